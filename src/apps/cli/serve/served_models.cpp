#include "apps/cli/serve/served_models.h"

#include <set>

#include "apps/cli/service_sources.h"
#include "apps/cli/speaker.h"
#include "base/environment.h"
#include "engine/memory.h"

namespace tokamak::cli {
namespace {

/// The one that was typed so, or a new one.
ServedModel& model_typed(std::vector<ServedModel>& models, const std::string& typed) {
  const auto found = std::ranges::find(models, typed, &ServedModel::typed);
  return found != models.end() ? *found : models.emplace_back(ServedModel{.typed = typed});
}

/// By what was typed; a name where two are called the same is an error.
Result<std::vector<ServedModel>> named_models(const ModelFlags& flags,
                                              const std::vector<std::string>& aliases) {
  std::vector<ServedModel> models;
  for (const std::string& typed : flags.models()) models.push_back({.typed = typed});
  const auto is_plain = [](const std::string& alias) { return !alias.contains('='); };
  if (models.empty() && (aliases.empty() || std::ranges::any_of(aliases, is_plain))) {
    models.push_back({.typed = environment_variable("TOKAMAK_MODEL")});  // "": the built-in one
  }
  for (const std::string& alias : aliases) {
    const size_t equals = alias.find('=');
    ServedModel& model =
        is_plain(alias) ? models.front() : model_typed(models, alias.substr(equals + 1));
    model.names.push_back(alias.substr(0, equals));
  }
  std::set<std::string> taken;
  for (ServedModel& model : models) {
    TOK_TRY(model.options, flags.options_of(model.typed));
    if (model.typed.empty()) {
      TOK_TRY(model.options.model, builtin_model_folder());
    }
    if (model.names.empty()) model.names.push_back(model_id(model.typed, model.options.model));
    if (models.size() > 1) model.options.called = model.names.front();
    // Adapters are the first model's, and further names of it; so are the draft
    // model and the tower of images.
    if (&model != &models.front()) {
      model.options.adapters.clear();
      if (model.options.speculate.starts_with("draft")) model.options.speculate.clear();
      model.options.draft.clear();
      model.options.projector.clear();
    }
    for (const AdapterOption& adapter : model.options.adapters) {
      model.names.push_back(adapter.name);
    }
    for (const std::string& name : model.names) {
      if (taken.insert(name).second) continue;
      return fail(ErrorCode::kUsage,
                  "Two models are called \"{}\"; --alias NAME=MODEL gives one another name, and "
                  "--lora NAME=FOLDER an adapter.",
                  name);
    }
  }
  return models;
}

bool is_any_of(const std::vector<std::string>& names, const std::vector<std::string>& of) {
  return std::ranges::find_first_of(names, of) != names.end();
}

/// Describes a model by its files, before it is loaded.
serve::PoolModel described(const ServedModel& model, const DeviceInfo& device) {
  serve::PoolModel out = {.names = model.names, .path = model.options.model};
  out.card.created = unix_seconds();
  const auto path = find_model(model.options.model);
  const auto files = path ? read_model_files(*path, model.options.projector)
                          : Result<ModelFiles>(Failure(path.error()));
  OpenOptions options = model.options;
  options.memory.clear();  // what it needs, not what it may take
  const auto compiled = files ? Engine::compile(*files, device, options)
                              : Result<Engine::Compiled>(Failure(files.error()));
  const auto unfit = [&](const Error& error) {
    note(fmt::format("note: {} cannot be loaded as it is: {}\n", model.names.front(),
                     error.message));
    return out;
  };
  if (!compiled) return unfit(compiled.error());
  const auto tokenizer = make_tokenizer(*files);
  if (!tokenizer) return unfit(tokenizer.error());
  const int64_t created = out.card.created;
  out.card = protocol::model_card(*files, *compiled, protocol::find_chat_form(*files, &*tokenizer));
  out.card.created = created;
  out.least_bytes = least_bytes(*compiled, options);
  return out;
}

/// Every request needs a tokenizer.
Result<std::unique_ptr<Engine>> open_to_serve(OpenOptions options) {
  TOK_TRY(auto engine, ModelFlags::open(std::move(options)));
  TOK_TRY(engine->tokenizer());
  return engine;
}

std::string example_of(const Engine& engine, const std::string& name) {
  const Engine::Compiled& compiled = engine.compiled();
  const std::string model = Json(name).dump();
  const auto json = [](std::string_view path, const std::string& members) {
    return fmt::format("{} -d '{{{}}}'", path, members);
  };
  if (compiled.facts.speaks) {
    return json("/v1/audio/speech -o hello.wav",
                fmt::format(R"("model": {}, "input": "Hello", "response_format": "wav")", model));
  }
  if (compiled.facts.hears) {
    return fmt::format("/v1/audio/transcriptions -F model='{}' -F file=@recording.wav", name);
  }
  if (compiled.facts.score) {
    return json("/v1/rerank", fmt::format(R"("model": {}, "query": "a red animal", "documents": )"
                                          R"(["a fox", "the sea"])",
                                          model));
  }
  if (compiled.encoder) {
    return json("/v1/embeddings", fmt::format(R"("model": {}, "input": "Hello")", model));
  }
  if (!chat_template_named(engine.files(), "default")) {
    return json("/v1/completions",
                fmt::format(R"("model": {}, "prompt": "Once upon a time")", model));
  }
  return json(
      "/v1/chat/completions",
      fmt::format(R"("model": {}, "messages": [{{"role": "user", "content": "Hello"}}])", model));
}

/// Writes a note for the owner of a server whose context is short for want of memory: prompts of
/// agents are longer than it.
void note_short_context(const Engine& engine, const std::string& name, const OpenOptions& options) {
  const Engine::Compiled& compiled = engine.compiled();
  if (options.context != 0 || !compiled.gives_text()) return;
  if (compiled.context >= std::min(compiled.facts.max_context, kLongestDefaultContext)) return;
  note(
      fmt::format("note: The context of {} is {} of the {} positions that it was made for; "
                  "--context N gives more, which coding agents need.\n",
                  name, compiled.context, compiled.facts.max_context));
}

/// Bytes that all models may take together, of which one is loaded; 0: not known.
Result<uint64_t> memory_of_all(const Engine& first, const OpenOptions& options) {
  OpenOptions own = options;
  own.free_memory = free_memory(first.backend());
  // The free memory as it was before the first one was loaded.
  if (own.free_memory != 0) own.free_memory += needed_bytes(first.compiled());
  TOK_TRY(const std::optional<uint64_t> limit, memory_limit(own, first.device()));
  return limit.value_or(0);
}

/// How the pool opens one of `models` while others run.
auto opener(const std::vector<ServedModel>& models) {
  std::vector<OpenOptions> all;
  for (const ServedModel& model : models) all.push_back(model.options);
  return [all = std::move(all)](size_t model, uint64_t room, const std::atomic<bool>& cancelled) {
    OpenOptions options = all[model];
    if (!options.memory.empty() && room != 0) options.memory = std::to_string(room);
    options.progress = [&cancelled](uint64_t, uint64_t) { return !cancelled; };
    return Engine::open(options);
  };
}

serve::PoolOptions pool_options(const PoolFlags& flags, const std::vector<ServedModel>& models,
                                protocol::SpeechOptions speech) {
  serve::PoolOptions options = {.limits = {.models = flags.max_loaded},
                                .sequences = flags.sequences,
                                .max_queue = flags.max_queue,
                                .open = opener(models),
                                .note = [](std::string_view text) { note(text); },
                                .speech = std::move(speech),
                                .unix_seconds = unix_seconds,
                                .random = random_numbers};
  if (!flags.keep_alive.empty()) {
    options.keep_seconds = **protocol::read_keep_alive(Json(flags.keep_alive));
  }
  return options;
}

/// Options for models that speak need one.
Result<void> check_speech(const PoolFlags& flags, const std::vector<serve::PoolModel>& models,
                          const Engine::Compiled& first) {
  const char* const option = !flags.codec.empty()    ? "--codec"
                             : !flags.voices.empty() ? "--voice"
                                                     : nullptr;
  const auto speaks = [](const serve::PoolModel& model) {
    return std::ranges::count(model.card.capabilities, protocol::kSpeechCapability) > 0;
  };
  if (option == nullptr || first.voice || std::ranges::any_of(models, speaks)) return {};
  return fail(ErrorCode::kUsage, "{} is for models that speak, but none of these does.", option);
}

void add_speech_options(App& command, PoolFlags& flags) {
  constexpr const char* kGroup = "Models that speak";
  command
      .add_option(
          "--codec", flags.codec,
          "the codec: a folder, a .nemo file, or org/name of one that was fetched; default: "
          "the one in the model's folder or beside it")
      ->type_name("PATH")
      ->check(not_empty("the path of a codec"))
      ->group(kGroup);
  command
      .add_option(
          "--voice", flags.voices,
          "a voice that requests may name (repeatable): FILE has the numbers that describe "
          "a speaker, as for `tokamak speak`; without one any name is the model's own voice")
      ->type_name("NAME=FILE")
      ->check([](const std::string& text) {
        const size_t equals = text.find('=');
        const bool is_pair = equals != 0 && equals < text.size() - 1;
        return is_pair ? "" : not_expected(text, "NAME=FILE");
      })
      ->group(kGroup);
}

}  // namespace

Result<protocol::SpeechOptions> speech_options(const PoolFlags& flags) {
  protocol::SpeechOptions out = {.codec = flags.codec, .voices = {}};
  for (const std::string& text : flags.voices) {
    const size_t equals = text.find('=');
    TOK_TRY(std::vector<float> speaker, read_speaker_file(text.substr(equals + 1)));
    if (!out.voices.emplace(text.substr(0, equals), std::move(speaker)).second) {
      return fail(ErrorCode::kUsage, "Two voices are called \"{}\".", text.substr(0, equals));
    }
  }
  return out;
}

void add_pool_options(App& command, PoolFlags& flags) {
  constexpr const char* kGroup = "Several models";
  command
      .add_option("-a,--alias", flags.aliases,
                  "NAME: what clients call the first MODEL; NAME=MODEL: what they call that one, "
                  "which need not be named otherwise (repeatable); default: the name of its folder "
                  "or file")
      ->type_name("NAME[=MODEL]")
      ->check([](const std::string& text) {
        const bool is_named = !text.empty() && text.front() != '=';
        return is_named ? "" : not_expected(text, "a name or NAME=MODEL");
      })
      ->group(kGroup);
  command
      .add_flag("--preload", flags.preload,
                "load all models at the start; otherwise the first one, and others when a "
                "request asks for them")
      ->group(kGroup);
  command
      .add_option("--max-loaded", flags.max_loaded,
                  "most models in memory at once; the one that was used least recently leaves; "
                  "default: as many as fit")
      ->check(in_range(1, 4096))
      ->group(kGroup);
  command.add_option("--pin", flags.pins, "a model that never leaves memory (repeatable)")
      ->type_name("NAME")
      ->check(not_empty("a name"))
      ->group(kGroup);
  command
      .add_option("--keep-alive", flags.keep_alive,
                  "how long a model stays in memory after its last request, in seconds or as 5m; "
                  "requests of Ollama's protocol may say so themselves; default: until its room is "
                  "needed")
      ->type_name("TIME")
      ->check([](const std::string& text) {
        return protocol::read_keep_alive(Json(text)) ? "" : not_expected(text, "seconds or 5m");
      })
      ->group(kGroup);
  add_speech_options(command, flags);
  command
      .add_option("--max-sequences", flags.sequences,
                  "answers of a model that are generated at once")
      ->capture_default_str()
      ->check(in_range(1, int(kMaxSequences)));
  command
      .add_option("--max-queue", flags.max_queue,
                  "requests of a model that wait for one of those to end; more are answered "
                  "429")
      ->capture_default_str()
      ->check(in_range(0, 1 << 20));
  command
      .add_option("--megapixels", flags.megapixels,
                  "larger images are made smaller, to this, by models that read some; 0: text only")
      ->capture_default_str()
      ->check(in_range(0.0, 16.0));
}

Result<std::vector<ServedModel>> served_models(const ModelFlags& flags, const PoolFlags& pool) {
  TOK_TRY(std::vector<ServedModel> models, named_models(flags, pool.aliases));
  for (const std::string& pin : pool.pins) {
    const auto has_name = [&](const ServedModel& one) { return is_any_of(one.names, {pin}); };
    if (std::ranges::none_of(models, has_name)) {
      return fail(ErrorCode::kUsage, "--pin is \"{}\", but no model has that name.", pin);
    }
  }
  if (pool.preload && pool.max_loaded != 0 && pool.max_loaded < models.size()) {
    return fail(ErrorCode::kUsage, "--preload loads {} models, but --max-loaded allows {}.",
                models.size(), pool.max_loaded);
  }
  for (ServedModel& model : models) {
    model.options.sequences = pool.sequences;
    model.options.image_pixels = pixels_of(pool.megapixels);
    model.options.needs_images = false;
    model.options.context_is_limit = models.size() > 1;
  }
  return models;
}

Result<OpenPool> open_pool(const std::vector<ServedModel>& models, const PoolFlags& flags,
                           serve::Server& server, serve::Trace* trace,
                           serve::ModelPool::Deliver deliver) {
  TOK_TRY(protocol::SpeechOptions speech, speech_options(flags));
  TOK_TRY(auto engine, open_to_serve(models.front().options));
  note_short_context(*engine, models.front().names.front(), models.front().options);
  serve::PoolOptions options = pool_options(flags, models, std::move(speech));
  options.trace = trace;
  TOK_TRY(options.limits.bytes, memory_of_all(*engine, models.front().options));
  std::vector<serve::PoolModel> all;
  for (const ServedModel& model : models) {
    serve::PoolModel& own =
        all.emplace_back(all.empty() ? serve::PoolModel{.names = model.names,
                                                        .path = model.options.model,
                                                        .card = {.created = unix_seconds()},
                                                        .least_bytes = 0}
                                     : described(model, engine->device()));
    // A server of one model is there for that one.
    own.is_pinned =
        (models.size() == 1 && flags.keep_alive.empty()) || is_any_of(model.names, flags.pins);
  }
  TOK_TRY(check_speech(flags, all, engine->compiled()));
  OpenPool out;
  out.example = example_of(*engine, models.front().names.front());
  out.pool = std::make_unique<serve::ModelPool>(server, std::move(all), std::move(options),
                                                std::move(deliver));
  TOK_TRY(out.pool->add(0, std::move(engine)));
  for (size_t i = 1; flags.preload && i < models.size(); ++i) {
    OpenOptions one = models[i].options;
    if (!one.memory.empty()) one.memory = std::to_string(out.pool->room());
    TOK_TRY(auto next, open_to_serve(std::move(one)));
    TOK_TRY(out.pool->add(i, std::move(next)));
  }
  return out;
}

}  // namespace tokamak::cli
