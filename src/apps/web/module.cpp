// The module of the browser, as functions with flat arguments that web/tokamak-web calls:
//
//   tokamak_call(verb, options)   0, or -1: options, results and errors are JSON, see verbs.h
//   tokamak_reply()               the result of the last call, or its error {"code", "message"}
//
// A call may suspend the module, which must not be called meanwhile.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "apps/web/host.h"
#include "apps/web/verbs.h"

#define TOKAMAK_EXPORT(name) extern "C" __attribute__((export_name(#name)))

using namespace tokamak;

namespace {

[[noreturn]] void memory_ran_out() {
  std::fputs("The memory of the WebAssembly module has run out.\n", stderr);
  std::abort();
}

/// Made by the first call, and never destroyed: a module does not end.
struct Module {
  Module() { std::set_new_handler(memory_ran_out); }

  web::State state;
  std::string reply;
};

Module& module() {
  static Module& one = *new Module;
  return one;
}

Result<Json> call(std::string_view verb, std::string_view options) {
  const web::Verb* const found = web::find_verb(verb);
  if (found == nullptr) return fail(ErrorCode::kUsage, "There is no verb \"{}\".", verb);
  auto parsed = Json::parse(options);
  if (!parsed) return Failure(parsed.error().within(verb));
  auto result = found->run(module().state, *parsed);
  if (!result && result.error().code == ErrorCode::kUsage) {
    return Failure(result.error().within(verb));
  }
  return result;
}

}  // namespace

/// Memory for a text that the page hands in, until tokamak_free(). Null where there is none: that
/// call of the page fails.
TOKAMAK_EXPORT(tokamak_memory) void* tokamak_memory(uint32_t bytes) {
  return std::malloc(bytes);
}

TOKAMAK_EXPORT(tokamak_free) void tokamak_free(void* memory) {
  std::free(memory);
}

TOKAMAK_EXPORT(tokamak_call)
int tokamak_call(const char* verb, uint32_t verb_bytes, const char* options,
                 uint32_t option_bytes) {
  const auto result = call({verb, verb_bytes}, {options, option_bytes});
  module().reply = (result ? *result : web::error_json(result.error())).dump();
  return result ? 0 : -1;
}

TOKAMAK_EXPORT(tokamak_reply) const char* tokamak_reply() {
  return module().reply.data();
}

TOKAMAK_EXPORT(tokamak_reply_bytes) uint32_t tokamak_reply_bytes() {
  return uint32_t(module().reply.size());
}
