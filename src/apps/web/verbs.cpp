#include "apps/web/verbs.h"

#include <algorithm>

namespace tokamak::web {
namespace {

constexpr Verb kVerbs[] = {
    {"adapter", adapter},
    {"bench", bench},
    {"cancel", cancel},
    {"check", check},
    {"close", close},
    {"codec", web::codec},
    {"detokenize", detokenize},
    {"embed", embed},
    {"generate", generate},
    {"hub_files", hub_files},
    {"hub_name", hub_name},
    {"inspect", inspect},
    {"kernel", kernel},
    {"kernels", kernels},
    {"memory_add", memory_add},
    {"memory_export", memory_export},
    {"memory_forget", memory_forget},
    {"memory_import", memory_import},
    {"memory_list", memory_list},
    {"memory_rebuild", memory_rebuild},
    {"memory_search", memory_search},
    {"needs_whole", needs_whole},
    {"open", open},
    {"openai", web::openai},
    {"openai_cancel", openai_cancel},
    {"profile", profile},
    {"quote", web::quote},
    {"render", render},
    {"rerank", web::rerank},
    {"self_test", self_test},
    {"speak", speak},
    {"step", step},
    {"talk_answer", talk_answer},
    {"talk_begin", talk_begin},
    {"talk_heard", talk_heard},
    {"talk_listen", talk_listen},
    {"tokenize", tokenize},
    {"transcribe", transcribe},
};

std::string_view code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kInvalidInput:
      return "invalid-input";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kDevice:
      return "device";
    case ErrorCode::kDeviceLost:
      return "device-lost";
    case ErrorCode::kOutOfMemory:
      return "out-of-memory";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace

void State::clear() {
  exchanges.clear();  // these four before the engine that they refer to
  embedder.reset();
  voice.reset();
  requests.clear();
  chat.reset();
  engine.reset();
  checked.reset();
  roofline.reset();
  conversation.reset();
}

const Verb* find_verb(std::string_view name) {
  const auto found = std::ranges::find(kVerbs, name, &Verb::name);
  return found != std::end(kVerbs) ? found : nullptr;
}

Result<Engine*> open_engine(State& state) {
  if (state.engine == nullptr) return fail(ErrorCode::kUsage, "No model is open.");
  return state.engine.get();
}

Result<Seen> seen(const State& state) {
  if (state.engine != nullptr) {
    const Engine& engine = *state.engine;
    return Seen{engine.files(), engine.compiled(), engine.device()};
  }
  if (!state.checked) return fail(ErrorCode::kUsage, "No model is open, and none was checked.");
  return Seen{state.checked->files, state.checked->compiled, state.checked->device};
}

Result<const Tokenizer*> tokenizer(State& state) {
  if (state.engine != nullptr) return state.engine->tokenizer();
  TOK_TRY(const Seen model, seen(state));
  std::optional<Tokenizer>& own = state.checked->tokenizer;
  if (!own) {
    TOK_TRY(own, make_tokenizer(model.files));
  }
  return &*own;
}

Json error_json(const Error& error) {
  Json out;
  out.set("code", code_name(error.code)).set("message", error.message);
  return out;
}

}  // namespace tokamak::web
