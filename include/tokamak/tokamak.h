// The public API: a model on a device, asked for text or for vectors.
//
//   auto model = tokamak::Model::open({.model = "path/to/model"});
//   if (!model) return report(model.error());
//   auto stream = model->start({.prompt = "Once upon a time", .max_tokens = 64});
//   if (!stream) return report(stream.error());
//   while (auto piece = stream->next()) std::cout << piece->text;
//   auto result = stream->result();
//
// Errors are values: every function that can fail returns Result<T>, which is std::expected with
// one sentence for a person and a code (tokamak/error.h). Nothing throws.
//
// Threads: a model has a thread of its own, which runs everything on the device. Every function of
// Model may be called by any number of threads at once, but for moving and destroying. A Stream is
// for one thread at a time; cancel() may come from any. Callbacks must not block, and must not
// close the model.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokamak/embedding.h"
#include "tokamak/error.h"
#include "tokamak/generation.h"
#include "tokamak/ranking.h"

namespace tokamak {

/// What open() does at the moment: it reads the files, loads the weights, compiles kernels.
enum class LoadPhase : uint8_t { kFiles, kWeights, kKernels };

/// A low-rank adapter (LoRA) in a folder as PEFT saves it, loaded beside the model.
struct Adapter {
  std::string name;    // by which requests choose it; "": the folder's
  std::string folder;  // with adapter_config.json and adapter_model.safetensors
  double scale = 1;    // of what it adds to the model
};

struct ModelOptions {
  std::string model;               // a folder, a .gguf file, or org/name[@revision][:file] in the
                                   // Hugging Face cache; "": the built-in model
  std::string backend = "auto";    // auto, cuda, webgpu or cpu
  std::optional<uint32_t> device;  // which WebGPU adapter, as `tokamak doctor` numbers them
  uint32_t context = 0;       // tokens of a request at most, its prompt included; 0: what the model
                              // allows, at most 4096, for embeddings 2048
  uint32_t sequences = 1;     // requests that run at the same time, at most 64; others wait
  uint32_t cache_tokens = 0;  // that the requests have together; 0: a context for each, or as many
                              // as `memory` has room for
  std::string memory;         // most that the model may take of the device's: "6GiB", or "70%" of
                              // what is free; "": 90 % of it where it is known, else no limit
  std::string kv = "auto";  // type of the cache: f16, f32 or q8; auto: f16 on a GPU, f32 on the CPU
  std::string quantize;     // q8 or q4: pack matrices of floats while loading
  uint64_t image_pixels = 0;  // most of an image, to which larger ones are made smaller, 1 << 20
                              // for example; 0: the model is opened for text only
  /// Every seed gives the same tokens whatever else the model does at the time, at half of the
  /// speed for many sequences and less for few.
  bool batch_invariant = false;
  /// Several tokens in a step, guessed and taken where they are those that come without: off; auto:
  /// where that is faster; lookup, lookup:N: always, at most N of them (15), from what the text has
  /// said before; draft, draft:N: always (5), by the draft model, as auto does where there is one.
  /// "": auto with a draft model, else off. Models with recurrent layers do without.
  std::string speculate;
  /// A smaller model with the same tokenizer, named as `model` is, that guesses what follows; it is
  /// loaded on the same device. "": none.
  std::string draft;
  std::vector<Adapter> adapters;  // that requests may choose
  std::string pooling;            // mean, last or cls: embeddings of a model without modules.json
  /// Called by open(), now and then; bytes of the weights. False cancels: open() gives kCancelled.
  std::function<bool(LoadPhase phase, uint64_t done, uint64_t total)> progress;
  /// Receives what the user should know, a sentence at a time: a slow device, a device that was
  /// lost and opened again. Called by open() and by the model's thread, as long as the model lives.
  std::function<void(std::string_view)> notice;
  /// False: the model has no thread. Whatever it does it does in pump(), Stream::next(), result()
  /// and embed(), and one thread makes all calls; callbacks must call neither the model nor its
  /// streams then. next(0s) only looks, and a longer wait ends after the step in which its time is
  /// over.
  bool has_thread = true;
};

/// An image as a file is: PNG, JPEG or WebP, of at most 64 MiB and 64 million pixels.
struct ChatImage {
  std::string path;                   // of a file, which start() reads; or
  std::vector<std::byte> bytes = {};  // what is in one
};

struct ChatMessage {
  std::string role, content;  // roles as the model's template has them: "system", "user", ...
  std::vector<ChatImage> images = {};  // that stand before the content
};

/// What to continue, and how. Only one of `prompt`, `ids` and a chat is given; a number of sampling
/// that is unset is the one that the model recommends.
struct TextRequest {
  std::string prompt;         // special tokens are added as the model's tokenizer does
  std::string suffix;         // a text after the gap that is generated (fill-in-the-middle)
  std::vector<uint32_t> ids;  // tokens as they are
  std::vector<ChatMessage> messages;
  /// A JSON object with more that the chat template reads: {"tools": [...]}. It may have `messages`
  /// of its own, with parts and tool calls, in place of the above.
  std::string chat_variables;

  uint32_t max_tokens = 128;
  std::optional<double> temperature;             // 0: the most probable token, nothing is drawn
  std::optional<uint32_t> top_k;                 // 0: off
  std::optional<double> top_p;                   // 1: off
  std::optional<double> min_p;                   // 0: off
  std::optional<double> typical_p;               // 1: off
  std::optional<double> repetition_penalty;      // 1: off
  std::optional<uint64_t> seed;                  // unset: another one for every request
  std::vector<std::string> stop;                 // end the text and are not part of it
  std::optional<std::vector<uint32_t>> end_ids;  // end it as well; unset: the model's own
  bool logprobs = false;                         // of every token
  uint32_t top_logprobs = 0;                     // of the most probable ones too, that number
  /// Those of the prompt's tokens, too, as Generation::prompt_logprobs. The logits of each are
  /// read, at most 8 tokens a step: for scoring texts, not for long prompts. Not for prompts with
  /// images.
  bool prompt_logprobs = false;
  // Only texts of it are generated; at most one of them is given.
  std::string grammar;               // GBNF
  std::string json_schema;           // a JSON schema; "{}" is any JSON
  std::string regex;                 // of ECMA-262, for the whole text
  std::vector<std::string> choices;  // one of these

  int priority = 0;  // of requests that wait the highest goes first
  /// From start() on; what there is by then comes back as cancelled.
  std::optional<std::chrono::nanoseconds> deadline;
  /// The beginnings of prompts are kept and shared among requests of the same tenant only.
  std::string tenant;
  /// The name of one of ModelOptions::adapters; "": the model as it is. Requests of several and of
  /// none run in the same steps.
  std::string adapter;
  /// Called by the model's thread when Stream::next(0s) has something new, the end included: wakes
  /// an event loop. Not after the stream was dropped.
  std::function<void()> notify;
};

/// What has come since the last piece.
struct TextPiece {
  struct Token {
    uint32_t id = 0;
    std::optional<Logprobs> logprobs;  // where they were asked for
  };
  std::string text;  // whole characters of UTF-8; may be empty
  std::vector<Token> tokens;
};

struct StreamState;  // what a stream has in common with its model

/// A request that was started. Dropping it cancels the request. What is not read yet is kept, at
/// most `max_tokens` tokens, so that a slow reader holds up nobody; a stream may outlive its model.
class Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  /// Blocks until there is more; nothing when the request has ended.
  std::optional<TextPiece> next();
  /// The same, but nothing as well when the time is over; ended() tells the two apart.
  std::optional<TextPiece> next(std::chrono::nanoseconds timeout);
  /// Whether the request has ended and every piece was taken.
  bool ended() const;
  /// Ends the request within a step or two; result() has what there is.
  void cancel();
  /// Blocks until the request has ended. Being cancelled is no error. Errors: a device that is gone
  /// for good, a grammar that no token follows, logits that are no numbers.
  Result<Generation> result();

 private:
  friend class Model;
  explicit Stream(std::shared_ptr<StreamState> state);
  std::optional<TextPiece> take(std::optional<std::chrono::nanoseconds> timeout);
  std::shared_ptr<StreamState> state_;
};

/// What was opened. It does not change.
struct ModelDetails {
  std::string name;                        // the folder or file
  std::string architecture;                // as config.json names it
  std::string device;                      // its name
  uint32_t context = 0, sequences = 0;     // as they were settled
  uint32_t vocabulary = 0;                 // tokens
  uint32_t dimensions = 0;                 // of its embeddings; 0: it generates text
  std::vector<std::string> embed_prompts;  // names for EmbedOptions::prompt
  uint64_t device_bytes = 0;               // that its buffers take
};

class Model {
 public:
  /// Errors: a model that is not there, damaged or not supported, options out of range, no device,
  /// too little memory, kCancelled.
  static Result<Model> open(const ModelOptions& options);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();  // as close()

  /// Begins a request and returns at once. Errors: a prompt that is empty or does not fit, ids
  /// beyond the vocabulary, a chat that the template refuses, numbers out of range, a grammar or
  /// schema that is none or cannot be held, an image that is none, images for a model that was
  /// opened for text, an embedding model, a closed model. Images become part of the prompt by the
  /// model's thread: result() says where there are more than fit.
  Result<Stream> start(const TextRequest& request);

  /// One vector per text; blocks. Texts are cut off or refused one by one, as the options say; an
  /// error names the text. Errors: a model that gives no embeddings, an unknown prompt, more
  /// dimensions than there are, a closed model, kCancelled.
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                const EmbedOptions& options = {});

  /// How well each document answers the query, in their order: more is better; blocks. Errors: a
  /// model that does not rank, a query that leaves no room for a document, a closed model,
  /// kCancelled.
  Result<std::vector<float>> rerank(std::string_view query, std::span<const std::string> documents,
                                    const RerankOptions& options = {});

  /// `add_special`: with what the tokenizer puts around a text, <bos> for example.
  Result<std::vector<uint32_t>> tokenize(std::string_view text, bool add_special = true) const;
  Result<std::string> detokenize(std::span<const uint32_t> ids) const;
  /// The text of a chat: `variables` is a JSON object with `messages` and whatever else the model's
  /// template reads. For a request set TextRequest::messages instead.
  Result<std::string> render_chat(std::string_view variables) const;
  const ModelDetails& details() const;

  /// Without a thread of its own: takes what has arrived and submits what can run, without waiting
  /// for the device. False when nothing is left to do. With a thread: always false.
  bool pump();

  /// Ends everything that runs as cancelled; later calls are errors (kUsage). May be called twice.
  void close();

 private:
  struct State;
  explicit Model(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tokamak
