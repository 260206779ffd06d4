// Calls that block, on a thread of Node's pool, as promises.
#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "addon.h"

namespace tokamak::node {

/// The value of a call, which the JavaScript thread makes once it has returned.
using Finish = std::function<napi_value(napi_env)>;

/// A promise of what `call` gives on another thread; tasks that it posts run before the promise is
/// settled.
napi_value promise_of(napi_env env, const char* name, std::function<Result<Finish>()> call);

/// The cancelling of a call that blocks: asked between its steps.
class Cancellation final : public Handle {
 public:
  explicit Cancellation(std::shared_ptr<Addon> addon) : addon_(std::move(addon)) {}

  void cancel() override { is_cancelled_ = true; }
  bool is_cancelled() const { return is_cancelled_ || addon_->is_ending(); }
  /// The `tokamak_cancelled` of a Cancellation.
  static bool ask(void* own) { return static_cast<const Cancellation*>(own)->is_cancelled(); }

 private:
  std::shared_ptr<Addon> addon_;
  std::atomic<bool> is_cancelled_ = false;
};

/// A handle of the C interface with the function that frees it.
template <typename T, void (*kFree)(T*)>
struct Freeing {
  void operator()(T* handle) const { kFree(handle); }
};
template <typename T, void (*kFree)(T*)>
using Owned = std::unique_ptr<T, Freeing<T, kFree>>;
using OwnedText = Owned<char, tokamak_text_free>;

/// Sets options that are given as names and values in turns.
template <typename Options>
Result<void> set_all(bool (*set)(Options*, const char*, const char*, tokamak_error**),
                     Options* options, const std::vector<std::string>& pairs) {
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    ErrorSlot error;
    if (!set(options, pairs[i].c_str(), pairs[i + 1].c_str(), error)) return error.failure();
  }
  return {};
}

/// The same texts, as the C interface takes them.
std::vector<const char*> pointers_to(const std::vector<std::string>& texts);

}  // namespace tokamak::node
