// Texts that a model writes, and answers of the protocols of a server, as flows.
#pragma once
#include <node_api.h>

namespace tokamak::node {

napi_value start(napi_env env, napi_callback_info info);
napi_value call(napi_env env, napi_callback_info info);

}  // namespace tokamak::node
