// Engine: a model on a device, from its files to its text, for one thread. What programs outside
// include is tokamak/tokamak.h, which runs an engine for the threads of its callers.
//
//   auto engine = tokamak::Engine::open({.model = "path/to/model"});
//   if (!engine) return report(engine.error());
//   auto result = (*engine)->generate("Once upon a time", {.max_tokens = 64}, callbacks);
// It is not for use by two threads at once.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/json.h"
#include "engine/compiled.h"
#include "engine/files/model_files.h"
#include "engine/open_options.h"
#include "engine/warm_up.h"
#include "formats/native_files.h"
#include "formats/tensor_file.h"
#include "generate/schedule/scheduler.h"
#include "generate/steps/encoder_steps.h"
#include "generate/steps/session.h"
#include "image/image.h"
#include "model/description.h"
#include "text/template/chat_template.h"
#include "text/tokenizer/gguf_vocab.h"
#include "text/tokenizer/tokenizer.h"
#include "tokamak/embedding.h"
#include "tokamak/ranking.h"

namespace tokamak {

struct LoadTimes {
  double total_seconds = 0, compile_seconds = 0, upload_seconds = 0;
  double test_seconds = 0;  // of compile_seconds: looking for wrong kernels
};

/// An image as a model's tower takes it, and how many tokens of a prompt it has.
struct FittedImage {
  Image pixels;
  uint32_t tokens = 0;
};

class Codec;
class DraftModel;
class ImageEncoder;
class Narrator;
class RestorableProgram;
class Transcriber;

class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;  // its program refers to it
  Engine& operator=(const Engine&) = delete;

  /// Opens a model on a device. Native programs only; elsewhere see load().
  static Result<std::unique_ptr<Engine>> open(const OpenOptions& options);

  /// The same from files already read and a backend already chosen.
  static Result<std::unique_ptr<Engine>> load(ModelFiles files, std::unique_ptr<Backend> backend,
                                              const OpenOptions& options, const Clock& clock);

  using Compiled = CompiledModel;
  static Result<Compiled> compile(const ModelFiles& files, const DeviceInfo& device,
                                  const OpenOptions& options);

  const Compiled& compiled() const { return compiled_; }
  const ModelFiles& files() const { return files_; }
  const DeviceInfo& device() const { return backend_->device(); }
  const Backend& backend() const { return *backend_; }  // another one after a loss
  const LoadTimes& load_times() const { return times_; }
  CompileReport compile_report() const { return program_->report(); }
  /// For what works below sessions: profiles, tests.
  Program& program() { return *program_; }
  /// Runs each kind of step once where a driver compiles kernels when they first run, so that no
  /// request waits for that. Native programs only. REQUIRES: nothing is on its way.
  Result<void> warm_up(const WarmUpProgress& progress = {});
  /// The tokenizer, or why there is none: a model may come without.
  Result<const Tokenizer*> tokenizer() const;

  /// Renders a conversation with the model's chat template. `variables` has messages and may have
  /// tools, add_generation_prompt and whatever else the template reads.
  Result<std::string> render_chat(const Json& variables) const;

  /// The parameters that generation_config.json and config.json recommend; end ids always set from
  /// them. Plain GenerationParams sample from the model's probabilities as they are. An error where
  /// the files are wrong about sampling: those who do not sample need not care.
  Result<GenerationParams> defaults() const;
  /// The end ids of defaults(), for those who do not sample.
  const std::optional<std::vector<uint32_t>>& end_ids() const { return defaults_.end_ids; }

  /// Chooses the adapter of later generate(), rerank() and start(); "": the model as it is, without
  /// one, from then on.
  Result<void> use_adapter(std::string_view name);

  /// Encodes `prompt` (special tokens as the tokenizer adds them) and continues it. Without end ids
  /// in `params` the model's own end the text; without a seed every call has a new one.
  Result<Generation> generate(std::string_view prompt, const GenerationParams& params,
                              const GenerationCallbacks& callbacks = {});
  /// Generates like generate(), with text of a chat template: it carries its own special tokens.
  Result<Generation> generate_rendered(std::string_view prompt, const GenerationParams& params,
                                       const GenerationCallbacks& callbacks = {});
  /// The same of a request, whose `done` is not called; without an adapter it has that of
  /// use_adapter(). What the cache holds of the prompt's tokens from earlier calls does not run
  /// again. Requests of the scheduler go on meanwhile. No callback may make such a call.
  Result<Generation> generate(Request request);

  /// Errors: the model reads no images, or was opened for text only. Any thread may call this
  /// and image_tokens(), the tokens of a prompt that an image of that size takes.
  Result<void> check_images() const;
  Result<uint32_t> image_tokens(ImageSize image) const;
  /// An image as the model's tower takes it: resized. Any thread may call it.
  Result<FittedImage> fit_image(Image image) const;
  /// The image for prompts of that tenant (Request::tenant). Its tower runs before the first step
  /// that reads of it, unless the same image was added lately for the same tenant.
  Result<ImageRef> add_image(FittedImage image, std::string_view tenant = {});
  /// The same of any image, whose tower has run. A device that is lost meanwhile is opened again.
  Result<ImageRef> encode_image(const Image& image, std::string_view tenant = {});
  /// A prompt's ids with those of the images, for which placeholders stand. Errors: not as many.
  Result<std::vector<uint32_t>> place_images(std::span<const uint32_t> ids,
                                             std::span<const ImageRef> images) const;
  Result<std::vector<uint32_t>> encode_with_images(std::string_view rendered,
                                                   std::span<const ImageRef> images) const;

  /// The scheduler of all text: many requests at once, as many as OpenOptions::sequences of them
  /// running. Errors: an embedding model, one that was opened for the logits of every token.
  Result<Scheduler*> scheduler();

  /// A new sequence, for the logits after its tokens. The engine has one cache: this and what is
  /// generated end an older session, whose calls are errors (kUsage) from then on, and this ends
  /// the requests of the scheduler. It cannot be called from a callback. An error for an embedding
  /// model.
  Result<Session> start();

  /// The embedding of a text, with the model's prompt before it. Errors: a model that gives none,
  /// an unknown prompt, more dimensions than there are, a text that does not fit or has no tokens.
  Result<std::vector<float>> embed(std::string_view text, const EmbedOptions& options = {});
  /// The same of token ids, as they are: without a prompt, without special tokens.
  Result<std::vector<float>> embed(std::span<const uint32_t> ids, const EmbedOptions& options = {});
  /// The ids that embed() makes of a text before the model runs: for counting its tokens.
  Result<std::vector<uint32_t>> embedding_ids(std::string_view text,
                                              const EmbedOptions& options = {}) const;
  using Vectors = std::vector<std::vector<float>>;
  /// One embedding per text; several run in one step, without padding. An error names the text.
  Result<Vectors> embed(std::span<const std::vector<uint32_t>> texts,
                        const EmbedOptions& options = {});
  Result<Vectors> embed(std::span<const std::string> texts, const EmbedOptions& options = {});

  /// The weights of the tokens of each text. Errors: as of embed(), a model without such a layer.
  Result<std::vector<SparseVector>> embed_sparse(std::span<const std::vector<uint32_t>> texts,
                                                 const EmbedOptions& options = {});

  /// How well each document answers the query, in their order: more is better. Models that are no
  /// cross-encoders are asked as Qwen3-Reranker is. Errors: a model that can do neither.
  Result<std::vector<float>> rerank(std::string_view query, std::span<const std::string> documents,
                                    const RerankOptions& options = {});
  /// The same of pairs as token ids, as they are, by a cross-encoder.
  Result<std::vector<float>> scores(std::span<const EncoderInput> pairs,
                                    const RerankOptions& options = {});

  /// The transcriber, which writes down recordings. It uses the engine's program: one call after
  /// another. Native programs only. Errors: a model that does not recognize speech.
  Result<Transcriber*> transcriber();
  /// The codec that `model` names, as OpenOptions do, on the engine's device: engine/codec.h. There
  /// is one: another takes its place. Native programs only.
  Result<Codec*> codec(const std::string& model);
  /// Bytes of the device's memory that it takes beside the model; 0: there is none.
  uint64_t codec_bytes() const { return codec_bytes_; }
  /// The narrator, which speaks texts, with that codec, or the one in the model's folder or beside
  /// it. Native programs only. Errors: a model without speech, or without a tokenizer.
  Result<Narrator*> narrator(const std::string& codec = "");

 private:
  Result<std::vector<uint32_t>> template_ids(std::string_view text) const;  // special tokens too
  Result<std::unique_ptr<Program>> make_program(const Plan& plan, const LoadProgress& progress);
  Result<std::unique_ptr<Program>> make_program_again(const Plan& plan, const Error& loss);
  /// Loads the draft model of its files, on the same device.
  Result<void> load_draft(const OpenOptions& options);
  Result<void> check_idle() const;
  /// Runs the requests to their ends, beside those that are there. An error of one is one of all.
  Result<std::vector<Generation>> run(std::vector<Request> requests);
  Result<Vectors> rows_of(std::span<const EncoderInput> inputs,
                          const std::function<bool()>& cancelled, const EncoderRows& rows = {});
  Result<std::vector<float>> rerank_by_answers(std::string_view query,
                                               std::span<const std::string> documents,
                                               const RerankOptions& options);

  ModelFiles files_;
  TensorFile constants_;  // what the weights are read from, at load and after a loss
  Compiled compiled_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Program> program_;
  RestorableProgram* restorable_ = nullptr;  // the same; null: what is lost stays lost
  std::function<Result<std::unique_ptr<Backend>>()> reopen_;
  FindWrong find_wrong_;  // it may test kernels beside the steps
  std::function<void(std::string_view)> notice_;
  std::optional<Tokenizer> tokenizer_;
  GenerationParams defaults_;
  Result<void> sampling_status_;
  LoadTimes times_;
  Clock clock_;
  uint32_t adapter_ = 0;
  bool is_busy_ = false;                         // with a call that has callbacks
  uint64_t calls_ = 0;                           // of generate(), for seeds
  std::unique_ptr<ImageEncoder> image_encoder_;  // null: for text only
  /// Shared, since only native programs know what it takes to destroy it.
  std::shared_ptr<Transcriber> transcriber_;
  std::shared_ptr<Codec> codec_;  // the same
  uint64_t codec_bytes_ = 0;
  std::optional<uint64_t> memory_limit_;  // of all
  bool shows_memory_ = false;
  std::function<void()> on_device_lost_;  // for the codec
  std::shared_ptr<Narrator> narrator_;    // the same
  std::unique_ptr<Engine> draft_;         // on the same backend; null: no draft model
  std::unique_ptr<DraftModel> drafts_;    // of that
  std::unique_ptr<Scheduler> scheduler_;  // the last: it refers to others
};

/// The tokenizer of those files; an error that names the model when it has none.
Result<Tokenizer> make_tokenizer(const ModelFiles& files);

/// Renders with the chat template of those files, or with `instead`, a Jinja text, where that is
/// not empty.
Result<std::string> render_chat(const ModelFiles& files, const Json& variables,
                                std::string_view instead = {});

/// The chat template of that name; an error names those that there are.
Result<std::string> chat_template_named(const ModelFiles& files, std::string_view name);
/// Chooses a device: what `backend` and `device` say, else the best there is, else the CPU.
Result<std::unique_ptr<Backend>> open_backend(const OpenOptions& options);

/// The processor with its vectors; the reference where `backend` is "cpu-reference" and where the
/// processor or the build has no kernels for them.
std::unique_ptr<Backend> make_processor_backend(const OpenOptions& options);

/// Adds to `options.advice` what earlier runs have kept about the device: what `tokamak tune` found
/// and which kernels failed the self-test. Native programs only.
void recall_device(const DeviceInfo& device, OpenOptions& options);

/// "31 compiled, 0 cached"
std::string pipelines_text(const CompileReport& report);

/// Seconds of a steady clock.
Clock steady_clock();

}  // namespace tokamak
