// The state of the addon in one JavaScript environment, the main thread's or a Worker's; there is
// nothing global.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "values.h"

namespace tokamak::node {

class Flow;

/// Work for the JavaScript thread.
using Task = std::function<void(napi_env)>;

class Addon : public std::enable_shared_from_this<Addon> {
 public:
  /// Makes the state of an environment. False: the environment allows no more.
  static bool create(napi_env env);
  static std::shared_ptr<Addon> of(napi_env env);

  /// Has the JavaScript thread run a task, after those that were posted before. Any thread; once
  /// the environment ends, the task is dropped.
  void post(Task task);
  /// Runs what was posted; the JavaScript thread only.
  void run_posted(napi_env env);

  /// The process stays until everything that holds it has released it; the JavaScript thread only.
  void hold();
  void release();

  /// Ends models and flows with the environment.
  void watch(const std::shared_ptr<tokamak_model>& model);
  void watch(const std::shared_ptr<Flow>& flow);
  /// Ends everything that runs as cancelled, and waits a while for calls on other threads.
  void end_all();
  bool is_ending() const { return is_ending_; }

  void enter_call();
  void leave_call();

  const Kept& error_class() const { return error_class_; }
  void set_error_class(Kept error_class) { error_class_ = std::move(error_class); }

 private:
  explicit Addon(napi_env env) : env_(env) {}
  void end_environment();

  napi_env env_;
  napi_threadsafe_function wake_ = nullptr;
  Kept error_class_;
  size_t holders_ = 0;
  std::atomic<bool> is_ending_ = false;

  std::mutex mutex_;  // of everything below
  std::vector<Task> posted_;
  bool has_ended_ = false;
  std::vector<std::weak_ptr<tokamak_model>> models_;
  std::vector<std::weak_ptr<Flow>> flows_;
  size_t calls_ = 0;  // that other threads make
  std::condition_variable left_;
};

}  // namespace tokamak::node
