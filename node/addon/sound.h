// Recordings as transcripts, and texts as speech.
#pragma once
#include <node_api.h>

namespace tokamak::node {

napi_value transcribe(napi_env env, napi_callback_info info);
napi_value speak(napi_env env, napi_callback_info info);
napi_value encode(napi_env env, napi_callback_info info);

}  // namespace tokamak::node
