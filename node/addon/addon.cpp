#include "addon.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "flow.h"

namespace tokamak::node {
namespace {

constexpr std::chrono::seconds kLongestEnd(
    5);  // for calls on other threads, when the process exits

template <typename T>
std::vector<std::shared_ptr<T>> alive(std::vector<std::weak_ptr<T>>& all) {
  std::vector<std::shared_ptr<T>> found;
  for (const auto& one : all) {
    if (auto shared = one.lock()) found.push_back(std::move(shared));
  }
  return found;
}

template <typename T>
void add_alive(std::vector<std::weak_ptr<T>>& all, const std::shared_ptr<T>& one) {
  std::erase_if(all, [](const std::weak_ptr<T>& other) { return other.expired(); });
  all.push_back(one);
}

}  // namespace

bool Addon::create(napi_env env) {
  auto addon = std::shared_ptr<Addon>(new Addon(env));
  const auto run = [](napi_env own, napi_value, void* context, void*) {
    if (own != nullptr) static_cast<Addon*>(context)->run_posted(own);
  };
  if (napi_create_threadsafe_function(env, nullptr, nullptr, text_value(env, "tokamak"), 0, 1,
                                      nullptr, nullptr, addon.get(), run,
                                      &addon->wake_) != napi_ok) {
    return false;
  }
  napi_unref_threadsafe_function(env, addon->wake_);
  // Hooks run in the order opposite to that in which they were added: this one before the one that
  // ends `wake_`.
  napi_add_env_cleanup_hook(
      env, [](void* own) { static_cast<Addon*>(own)->end_environment(); }, addon.get());
  using Shared = std::shared_ptr<Addon>;
  const auto drop = [](napi_env, void* shared, void*) { delete static_cast<Shared*>(shared); };
  return napi_set_instance_data(env, new Shared(addon), drop, nullptr) == napi_ok;
}

std::shared_ptr<Addon> Addon::of(napi_env env) {
  void* found = nullptr;
  napi_get_instance_data(env, &found);
  return *static_cast<std::shared_ptr<Addon>*>(found);
}

void Addon::post(Task task) {
  const std::scoped_lock lock(mutex_);
  if (has_ended_) return;
  posted_.push_back(std::move(task));
  if (posted_.size() == 1) napi_call_threadsafe_function(wake_, nullptr, napi_tsfn_nonblocking);
}

void Addon::run_posted(napi_env env) {
  std::vector<Task> tasks;
  {
    const std::scoped_lock lock(mutex_);
    tasks.swap(posted_);
  }
  for (const Task& task : tasks) {
    napi_handle_scope scope = nullptr;
    napi_open_handle_scope(env, &scope);
    task(env);
    napi_close_handle_scope(env, scope);
  }
}

void Addon::hold() {
  if (holders_++ == 0) napi_ref_threadsafe_function(env_, wake_);
}

void Addon::release() {
  if (--holders_ == 0) napi_unref_threadsafe_function(env_, wake_);
}

void Addon::watch(const std::shared_ptr<tokamak_model>& model) {
  const std::scoped_lock lock(mutex_);
  add_alive(models_, model);
}

void Addon::watch(const std::shared_ptr<Flow>& flow) {
  const std::scoped_lock lock(mutex_);
  add_alive(flows_, flow);
}

void Addon::enter_call() {
  const std::scoped_lock lock(mutex_);
  ++calls_;
}

void Addon::leave_call() {
  const std::scoped_lock lock(mutex_);
  --calls_;
  left_.notify_all();
}

void Addon::end_all() {
  is_ending_ = true;
  std::vector<std::shared_ptr<tokamak_model>> models;
  std::vector<std::shared_ptr<Flow>> flows;
  {
    const std::scoped_lock lock(mutex_);
    models = alive(models_);
    flows = alive(flows_);
  }
  for (const auto& flow : flows) flow->end_early();
  for (const auto& model : models) tokamak_model_close(model.get());
  std::unique_lock lock(mutex_);
  left_.wait_for(lock, kLongestEnd, [&] { return calls_ == 0; });
}

void Addon::end_environment() {
  end_all();
  std::vector<Task> dropped;  // destructors among these post again, which takes the lock
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
    dropped.swap(posted_);
  }
  error_class_ = {};  // which keeps this
}

}  // namespace tokamak::node
