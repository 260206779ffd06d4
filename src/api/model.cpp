#include "api/model_state.h"
#include "api/open_settings.h"
#include "base/splitmix.h"
#include "engine/requests/logits.h"
#include "engine/requests/text_request.h"
#include "engine/task.h"

namespace tokamak {
namespace {

OpenOptions open_options(const ModelOptions& options) {
  OpenOptions own;
  visit_open_options([](std::string_view, const auto& from, auto& to) { to = from; }, options, own);
  for (const Adapter& one : options.adapters) {
    own.adapters.push_back({.name = one.name, .folder = one.folder, .scale = one.scale});
  }
  own.notice = options.notice;
  if (options.progress) {
    own.progress = [progress = options.progress](uint64_t done, uint64_t total) {
      return progress(done < total ? LoadPhase::kWeights : LoadPhase::kKernels, done, total);
    };
  }
  return own;
}

ModelDetails details_of(const Engine& engine, const ModelOptions& options) {
  const Engine::Compiled& compiled = engine.compiled();
  ModelDetails details{.name = engine.files().name,
                       .architecture = compiled.facts.architecture,
                       .device = engine.device().name,
                       .context = compiled.context,
                       .sequences = compiled.gives_text() ? options.sequences : 1,
                       .vocabulary = compiled.facts.vocab,
                       .device_bytes = engine.backend().device_bytes()};
  if (compiled.encoder) {
    details.dimensions = compiled.encoder->dimensions(compiled.facts.hidden);
    for (const auto& [name, text] : compiled.encoder->prompts)
      details.embed_prompts.push_back(name);
  }
  return details;
}

/// Reads the answer of a request whose prompt is complete.
Result<void> separate_reasoning(const Engine& engine, const protocol::ChatForm& chat,
                                const TextRequest& asked, Request& request, StreamState& stream) {
  constexpr size_t kPromptEnd = 64;  // tokens, among which marks that are open at its end stand
  static const protocol::ChatForm kPlain;
  TOK_TRY(const Tokenizer* tokenizer, engine.tokenizer());
  if (!asked.end_ids) protocol::add_end_ids(chat, request.params);
  const std::span<const uint32_t> prompt = request.prompt;
  const std::string end = tokenizer->decode(prompt.last(std::min(prompt.size(), kPromptEnd)));
  const protocol::ChatForm& form = request.params.grammar ? kPlain : chat;
  stream.reader.emplace(*tokenizer, protocol::reasoning_format(form, end), form.marks,
                        std::exchange(request.params.stop, {}),
                        request.params.end_ids.value_or(std::vector<uint32_t>()),
                        [own = &stream](bool is_reasoning, std::string_view text) {
                          (is_reasoning ? own->staged.reasoning : own->staged.text) += text;
                        });
  return {};
}

}  // namespace

const protocol::ChatForm& Model::State::reasoning() {
  std::call_once(reasoning_found, [&] {
    const auto tokenizer = engine().tokenizer();
    reasoning_form =
        protocol::find_reasoning_form(engine().files(), tokenizer ? *tokenizer : nullptr);
  });
  return reasoning_form;
}

uint64_t fresh_seed(std::atomic<uint64_t>& requests) {
  return fresh_seed(steady_clock()(), requests++);
}

Result<Model> Model::open(const ModelOptions& options) {
  if (options.progress && !options.progress(LoadPhase::kFiles, 0, 0)) return loading_cancelled();
  TOK_TRY(auto engine, Engine::open(open_options(options)));
  Scheduler* scheduler = nullptr;
  if (engine->compiled().gives_text()) {
    TOK_TRY(scheduler, engine->scheduler());
  }
  auto state = std::make_unique<State>();
  state->details = details_of(*engine, options);
  state->id = model_id(options.model, engine->files().name);
  state->loop = std::make_shared<StreamLoop>(std::move(engine), scheduler, options.has_thread);
  return Model(std::move(state));
}

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::Model(Model&&) noexcept = default;

Model& Model::operator=(Model&& other) noexcept {
  if (this == &other) return *this;
  close();
  state_ = std::move(other.state_);
  return *this;
}

Model::~Model() {
  close();
}

Result<Stream> Model::start(const TextRequest& asked) {
  if (state_ == nullptr) return is_closed();
  EngineLoop& loop = state_->loop->loop();
  TOK_TRY(check_task(state_->engine().compiled(), Task::kText));
  if (asked.prompt.empty() && asked.suffix.empty() && asked.ids.empty() && asked.messages.empty() &&
      asked.chat_variables.empty()) {
    return fail(ErrorCode::kUsage, "The request has no prompt, ids or messages to continue.");
  }
  TOK_TRY(Request request, scheduler_request(state_->engine(), asked));
  if (asked.deadline) {
    request.deadline = steady_clock()() + std::chrono::duration<double>(*asked.deadline).count();
  }
  if (!asked.seed) request.params.sampling.seed = fresh_seed(state_->requests);
  auto stream = std::make_shared<StreamState>();
  if (asked.separate_reasoning) {
    TOK_TRY(separate_reasoning(state_->engine(), state_->reasoning(), asked, request, *stream));
  }
  TOK_TRY(std::vector<Image> decoded, images_of(asked));
  const auto image = [&](size_t i) -> Result<Image> { return std::move(decoded[i]); };
  TOK_TRY(std::vector<FittedImage> images,
          fit_images(state_->engine(), request.prompt.size(), decoded.size(), image));
  if (images.empty()) TOK_TRY(loop.scheduler()->check(request));
  if (asked.notify) stream->on_ready(asked.notify, [] { return false; });
  if (!loop.has_thread()) stream->pump = state_->loop;
  if (!state_->loop->start(std::move(request), std::move(images), stream)) return is_closed();
  return Stream(std::move(stream));
}

Result<Call> Model::call(std::string_view path, std::string_view body) {
  if (state_ == nullptr) return is_closed();
  TOK_TRY(auto call, state_->calls.begin(state_->loop, state_->id, path, body));
  return Call(std::move(call));
}

Result<std::vector<float>> Model::logits(std::span<const uint32_t> ids,
                                         const LogitsOptions& options) {
  if (state_ == nullptr) return is_closed();
  TOK_TRY(check_task(state_->engine().compiled(), Task::kText));
  return run_and_wait<std::vector<float>>(
      state_->loop->loop(), options,
      [=](Engine& engine, const LogitsOptions& own) { return logits_after(engine, ids, own); });
}

Result<std::vector<std::vector<float>>> Model::embed(std::span<const std::string> texts,
                                                     const EmbedOptions& options) {
  if (state_ == nullptr) return is_closed();
  return run_and_wait<std::vector<std::vector<float>>>(
      state_->loop->loop(), options,
      [=](Engine& engine, const EmbedOptions& own) { return engine.embed(texts, own); });
}

Result<std::vector<SparseVector>> Model::embed_sparse(std::span<const std::string> texts,
                                                      const EmbedOptions& options) {
  if (state_ == nullptr) return is_closed();
  TOK_TRY(check_sparse(state_->engine().compiled()));
  TOK_TRY(const auto ids, embedding_ids_of(state_->engine(), texts, options));
  return run_and_wait<std::vector<SparseVector>>(
      state_->loop->loop(), options,
      [&](Engine& engine, const EmbedOptions& own) { return engine.embed_sparse(ids, own); });
}

Result<std::vector<float>> Model::rerank(std::string_view query,
                                         std::span<const std::string> documents,
                                         const RerankOptions& options) {
  if (state_ == nullptr) return is_closed();
  return run_and_wait<std::vector<float>>(state_->loop->loop(), options,
                                          [=](Engine& engine, const RerankOptions& own) {
                                            return engine.rerank(query, documents, own);
                                          });
}

Result<std::vector<uint32_t>> Model::tokenize(std::string_view text, bool add_special) const {
  if (state_ == nullptr) return is_closed();
  TOK_TRY(const Tokenizer* tokenizer, state_->engine().tokenizer());
  return tokenizer->encode(text, {.add_special = add_special});
}

Result<std::string> Model::detokenize(std::span<const uint32_t> ids) const {
  if (state_ == nullptr) return is_closed();
  TOK_TRY(const Tokenizer* tokenizer, state_->engine().tokenizer());
  return tokenizer->decode(ids);
}

Result<std::string> Model::render_chat(std::string_view variables) const {
  if (state_ == nullptr) return is_closed();
  TOK_TRY(const Json parsed, Json::parse(variables));
  return state_->engine().render_chat(parsed);
}

const ModelDetails& Model::details() const {
  static const ModelDetails none;
  return state_ == nullptr ? none : state_->details;
}

bool Model::pump() {
  if (state_ == nullptr) return false;
  EngineLoop& loop = state_->loop->loop();
  return !loop.has_thread() && loop.turn(false);
}

void Model::close() {
  if (state_ == nullptr) return;
  state_->loop->loop().close();
  state_->calls.close();
}

}  // namespace tokamak
