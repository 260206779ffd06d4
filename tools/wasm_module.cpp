// The smallest browser module: it links every layer below apps whole, so that a symbol which only
// the native build has shows up in CI.
#include "base/json.h"

/// 1 when the text is JSON: something small that a host can call to see that the module is alive.
extern "C" __attribute__((export_name("tokamak_is_json"))) int tokamak_is_json(const char* text,
                                                                               unsigned bytes) {
  return tokamak::Json::parse({text, bytes}).has_value() ? 1 : 0;
}
