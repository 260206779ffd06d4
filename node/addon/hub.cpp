#include "hub.h"

#include <utility>

#include "tokamak/c_hub.h"
#include "work.h"

namespace tokamak::node {
namespace {

/// A promise of a text that a function of the C interface gives.
napi_value text_promise(napi_env env, const char* name,
                        std::function<char*(tokamak_error**)> function) {
  return promise_of(env, name, [function = std::move(function)]() -> Result<Finish> {
    ErrorSlot error;
    const OwnedText text(function(error));
    if (text == nullptr) return error.failure();
    return [found = std::string(text.get())](napi_env later) { return text_value(later, found); };
  });
}

struct Progress {
  std::shared_ptr<Addon> addon;
  Kept report;
  std::shared_ptr<Cancellation> cancellation;
};

bool report_progress(void* user, tokamak_pull_stage stage, const char* text, uint64_t done,
                     uint64_t total) {
  const auto& progress = *static_cast<const Progress*>(user);
  progress.addon->post(
      [report = progress.report, stage, own = std::string(text), done, total](napi_env env) {
        const napi_value arguments[] = {number_value(env, stage), text_value(env, own),
                                        number_value(env, static_cast<double>(done)),
                                        number_value(env, static_cast<double>(total))};
        report.call(env, arguments);
      });
  return !progress.cancellation->is_cancelled();
}

}  // namespace

napi_value list_devices(napi_env env, napi_callback_info) {
  return text_promise(env, "tokamak.listDevices", tokamak_list_devices);
}

napi_value list_models(napi_env env, napi_callback_info) {
  return text_promise(env, "tokamak.listModels", tokamak_list_models);
}

/// locate(name): the path that a model's name means.
napi_value locate(napi_env env, napi_callback_info info) {
  Arguments in(env, info);
  const std::string name = in.text(0, "model");
  if (in.has_failed()) return in.raise();
  return text_promise(env, "tokamak.locate", [name](tokamak_error** error) {
    return tokamak_locate_model(name.c_str(), error);
  });
}

/// pull(name, onProgress, cancellation): the path, once all of the model is there.
napi_value pull(napi_env env, napi_callback_info info) {
  Arguments in(env, info);
  const std::string name = in.text(0, "model");
  const auto progress = std::make_shared<Progress>(Addon::of(env), in.function(1),
                                                   in.handle<Cancellation>(2, "cancellation"));
  if (in.has_failed()) return in.raise();
  return text_promise(env, "tokamak.pull", [name, progress](tokamak_error** error) {
    return tokamak_pull_model(name.c_str(), report_progress, progress.get(), error);
  });
}

}  // namespace tokamak::node
