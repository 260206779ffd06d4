// The verbs that the page calls: one model, several requests at once. Each verb takes the options
// that its function names and gives a JSON object; docs/browser.md has them all.
#pragma once
#include <memory>
#include <string_view>

#include "apps/web/exchanges.h"
#include "apps/web/open_options.h"
#include "apps/web/requests.h"
#include "engine/engine.h"
#include "protocol/templates/chat_form.h"
#include "report/bench/roofline.h"

namespace tokamak::memory {
struct Embedder;
}

namespace tokamak::web {

struct Voice;         // what says texts: sound_verbs.cpp
struct Conversation;  // by voice: talk_verbs.cpp

/// A model of which only the headers were read: it can be looked at, but not run.
struct CheckedModel {
  ModelFiles files;
  Engine::Compiled compiled;
  DeviceInfo device;
  std::optional<Tokenizer> tokenizer;  // made when somebody needs it
};

struct State {
  std::unique_ptr<Engine> engine;              // null: no model is open
  std::optional<CheckedModel> checked;         // the last one, while none is open
  Exchanges exchanges;                         // of the engine
  std::optional<Roofline> roofline;            // of the device, once a profile has asked for it
  Requests requests;                           // of the engine
  uint64_t seeds = 0;                          // chosen for requests that gave none
  OpenOptions options;                         // that the engine was opened with
  std::shared_ptr<Voice> voice;                // of the engine; null: it has no codec
  std::shared_ptr<memory::Embedder> embedder;  // the engine as one, once a memory has asked for it
  std::shared_ptr<Conversation> conversation;  // null: none was begun
  std::optional<protocol::ChatForm> chat;      // of its model, once one was begun

  /// Ends what runs, and forgets the model.
  void clear();
};

struct Verb {
  std::string_view name;
  Result<Json> (*run)(State& state, const Json& options);
};

/// Null where there is none of that name.
const Verb* find_verb(std::string_view name);

/// kUsage where no model is open.
Result<Engine*> open_engine(State& state);

/// The model that is open, or else was checked, to be shown; kUsage where there is none.
struct Seen {
  const ModelFiles& files;
  const Engine::Compiled& compiled;
  const DeviceInfo& device;
};
Result<Seen> seen(const State& state);
Result<const Tokenizer*> tokenizer(State& state);

/// {"code": "invalid-input", "message": ...}
Json error_json(const Error& error);

// Models: open_verbs.cpp, hub_verbs.cpp.
Result<Json> adapter(State& state, const Json& options);
Result<Json> check(State& state, const Json& options);
Result<Json> open(State& state, const Json& options);
Result<Json> close(State& state, const Json& options);
Result<Json> needs_whole(State& state, const Json& options);
/// The files of a model that the page reads.
Result<ModelFiles> read_files(const Opening& opening);
Result<Json> hub_name(State& state, const Json& options);
Result<Json> hub_files(State& state, const Json& options);

// Texts: request_verbs.cpp, text_verbs.cpp.
Result<Json> generate(State& state, const Json& options);
Result<Json> step(State& state, const Json& options);
Result<Json> cancel(State& state, const Json& options);
Result<Json> openai(State& state, const Json& options);
Result<Json> openai_cancel(State& state, const Json& options);
Result<Json> tokenize(State& state, const Json& options);
Result<Json> detokenize(State& state, const Json& options);
Result<Json> render(State& state, const Json& options);
Result<Json> embed(State& state, const Json& options);
Result<Json> rerank(State& state, const Json& options);

// Sound: sound_verbs.cpp, or no_sound_verbs.cpp in the module for texts.
Result<Json> transcribe(State& state, const Json& options);
Result<Json> codec(State& state, const Json& options);
Result<Json> speak(State& state, const Json& options);

// A conversation by voice: talk_verbs.cpp, or no_sound_verbs.cpp.
Result<Json> talk_begin(State& state, const Json& options);
Result<Json> talk_listen(State& state, const Json& options);
Result<Json> talk_heard(State& state, const Json& options);
Result<Json> talk_answer(State& state, const Json& options);

// Memories: memory_verbs.cpp, or no_memory_verbs.cpp in the module for texts; quote_verb.cpp.
Result<Json> memory_add(State& state, const Json& options);
Result<Json> memory_export(State& state, const Json& options);
Result<Json> memory_forget(State& state, const Json& options);
Result<Json> memory_import(State& state, const Json& options);
Result<Json> memory_list(State& state, const Json& options);
Result<Json> memory_rebuild(State& state, const Json& options);
Result<Json> memory_search(State& state, const Json& options);
Result<Json> quote(State& state, const Json& options);

// The verbs that show a model: report_verbs.cpp.
Result<Json> inspect(State& state, const Json& options);
Result<Json> kernel(State& state, const Json& options);
Result<Json> kernels(State& state, const Json& options);
Result<Json> profile(State& state, const Json& options);
Result<Json> bench(State& state, const Json& options);
Result<Json> self_test(State& state, const Json& options);

}  // namespace tokamak::web
