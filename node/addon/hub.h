// Devices, and models of the hub and on this machine.
#pragma once
#include <node_api.h>

namespace tokamak::node {

napi_value list_devices(napi_env env, napi_callback_info info);
napi_value list_models(napi_env env, napi_callback_info info);
napi_value locate(napi_env env, napi_callback_info info);
napi_value pull(napi_env env, napi_callback_info info);

}  // namespace tokamak::node
