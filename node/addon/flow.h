// Texts and answers that come part by part: the model's thread announces them, the JavaScript
// thread takes them.
#pragma once
#include <atomic>
#include <memory>

#include "addon.h"

namespace tokamak::node {

/// A stream or a call of the C interface, until its end. All functions but `cancel` are for the
/// JavaScript thread.
class Flow : public Handle, public std::enable_shared_from_this<Flow> {
 public:
  /// `part` receives each part, `end` an error or undefined, and then the result.
  Flow(std::shared_ptr<Addon> addon, std::shared_ptr<tokamak_model> model, Kept part, Kept end)
      : addon_(std::move(addon)),
        model_(std::move(model)),
        part_(std::move(part)),
        end_(std::move(end)) {}

  /// Begins to call back, and keeps the process until the end.
  void begin();
  /// Frees the handle without calling back: the environment ends.
  void end_early();
  void cancel() final;

 protected:
  virtual void on_ready(tokamak_ready ready, void* user) = 0;
  /// The next part, where there is one.
  virtual tokamak_next take(napi_env env, napi_value& part) = 0;
  virtual Result<napi_value> result(napi_env env) = 0;
  virtual void cancel_handle() = 0;
  virtual void free_handle() = 0;

 private:
  void announce();
  void read(napi_env env);
  void finish(napi_env env);
  void free_all();

  std::shared_ptr<Addon> addon_;
  std::shared_ptr<tokamak_model> model_;  // streams end with it
  Kept part_, end_;
  std::shared_ptr<Flow> self_;  // while it runs
  std::atomic<bool> is_announced_ = false;
};

}  // namespace tokamak::node
