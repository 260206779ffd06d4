#include "work.h"

#include <utility>

namespace tokamak::node {
namespace {

struct Work {
  std::shared_ptr<Addon> addon;
  std::function<Result<Finish>()> call;
  Result<Finish> outcome = std::unexpected(Failure{TOKAMAK_CANCELLED, "The process ends."});
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
};

/// On a thread of the pool. What the call keeps is dropped here: a model may take its time.
void execute(napi_env, void* own) {
  auto& work = *static_cast<Work*>(own);
  work.addon->enter_call();
  if (!work.addon->is_ending()) work.outcome = work.call();
  work.call = nullptr;
  work.addon->leave_call();
}

void settle(napi_env env, napi_status, void* own) {
  const std::unique_ptr<Work> work(static_cast<Work*>(own));
  napi_delete_async_work(env, work->work);
  work->addon->run_posted(env);
  if (work->outcome) {
    const napi_value value = (*work->outcome)(env);
    napi_value thrown = nullptr;
    if (value != nullptr) {
      napi_resolve_deferred(env, work->deferred, value);
      return;
    }
    if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok) {
      napi_reject_deferred(env, work->deferred, thrown);
    }
    return;
  }
  napi_reject_deferred(env, work->deferred, error_value(env, work->outcome.error()));
}

}  // namespace

napi_value promise_of(napi_env env, const char* name, std::function<Result<Finish>()> call) {
  auto work = std::make_unique<Work>(Addon::of(env), std::move(call));
  napi_value promise = nullptr;
  napi_create_promise(env, &work->deferred, &promise);
  napi_create_async_work(env, nullptr, text_value(env, name), execute, settle, work.get(),
                         &work->work);
  if (napi_queue_async_work(env, work->work) == napi_ok) (void)work.release();
  return promise;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace tokamak::node
