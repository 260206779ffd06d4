// The smallest browser module: it links every layer below apps whole, so that a symbol which only
// the native build has shows up in CI. tools/wasm_check.mjs calls what it exports.
#include <cstdlib>

#include "base/json.h"
#include "text/template/chat_template.h"

using namespace tokamak;

/// Memory for a text that a host hands in.
extern "C" __attribute__((export_name("tokamak_memory"))) char* tokamak_memory(unsigned bytes) {
  return static_cast<char*>(std::malloc(bytes));
}

/// 1 when the text is JSON.
extern "C" __attribute__((export_name("tokamak_is_json"))) int tokamak_is_json(const char* text,
                                                                               unsigned bytes) {
  return Json::parse({text, bytes}).has_value() ? 1 : 0;
}

/// 1 when the chat template can be rendered, 0 when it is refused.
extern "C" __attribute__((export_name("tokamak_renders"))) int tokamak_renders(const char* text,
                                                                               unsigned bytes) {
  const auto parsed = ChatTemplate::parse({text, bytes});
  if (!parsed) return 0;
  Json variables;
  variables.set("messages", Json::Array());
  return parsed->render(variables).has_value() ? 1 : 0;
}
