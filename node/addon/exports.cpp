// The functions that JavaScript calls; node/src/addon.ts has their types.
#include "addon.h"
#include "hub.h"
#include "model.h"
#include "sound.h"
#include "texts.h"
#include "work.h"

namespace tokamak::node {
namespace {

napi_value version(napi_env env, napi_callback_info) {
  return text_value(env, tokamak_version());
}

/// setErrorClass(TokamakError): the class of the errors of everything else.
napi_value set_error_class(napi_env env, napi_callback_info info) {
  Arguments in(env, info);
  Addon::of(env)->set_error_class(in.function(0));
  return undefined_value(env);
}

napi_value cancellation(napi_env env, napi_callback_info) {
  return handle_value(env, std::make_shared<Cancellation>(Addon::of(env)));
}

/// cancel(cancellation or what `start` and `call` have given)
napi_value cancel(napi_env env, napi_callback_info info) {
  Arguments in(env, info);
  if (const auto handle = in.any_handle(0)) handle->cancel();
  return undefined_value(env);
}

/// endAll(): before the process exits, no thread of the library may go on.
napi_value end_all(napi_env env, napi_callback_info) {
  Addon::of(env)->end_all();
  return undefined_value(env);
}

struct Export {
  const char* name;
  napi_callback function;
};

constexpr Export kExports[] = {
    {"version", version},
    {"setErrorClass", set_error_class},
    {"cancellation", cancellation},
    {"cancel", cancel},
    {"endAll", end_all},
    {"listDevices", list_devices},
    {"listModels", list_models},
    {"locate", locate},
    {"pull", pull},
    {"open", open},
    {"close", close},
    {"tokenize", tokenize},
    {"detokenize", detokenize},
    {"render", render},
    {"start", start},
    {"call", call},
    {"embed", embed},
    {"rerank", rerank},
    {"logits", logits},
    {"transcribe", transcribe},
    {"speak", speak},
    {"encode", encode},
};

}  // namespace
}  // namespace tokamak::node

NAPI_MODULE_INIT() {
  using namespace tokamak::node;
  if (!Addon::create(env)) {
    napi_throw_error(env, nullptr, "The addon of Tokamak cannot be started.");
    return nullptr;
  }
  for (const auto& [name, function] : kExports) {
    napi_value made = nullptr;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, function, nullptr, &made);
    set_member(env, exports, name, made);
  }
  return exports;
}
