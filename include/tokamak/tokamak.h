// The public API: a model on a device, asked for text, vectors, transcripts or speech.
//
//   auto model = tokamak::Model::open({.model = "path/to/model"});
//   if (!model) return report(model.error());
//   auto stream = model->start({.prompt = "Once upon a time", .max_tokens = 64});
//   if (!stream) return report(stream.error());
//   while (auto piece = stream->next()) std::cout << piece->text;
//   auto result = stream->result();
//
// Errors are values: every function that can fail returns Result<T>, which is std::expected with
// one sentence for a person and a code (tokamak/error.h). Nothing throws, but for the standard
// library where memory is used up.
//
// Threads: a model has a thread of its own, which runs everything on the device. Every function of
// Model may be called by any number of threads at once, but for moving and destroying. A Stream is
// for one thread at a time; cancel() may come from any. Callbacks must not block, and must not
// close the model. What a model or a stream was moved from is as one that was closed.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <version>

#ifndef __cpp_lib_expected
#error "tokamak/tokamak.h needs C++23 (-std=c++23) and a standard library with std::expected."
#endif

#include "tokamak/call.h"
#include "tokamak/chat_reply.h"
#include "tokamak/embedding.h"
#include "tokamak/error.h"
#include "tokamak/generation.h"
#include "tokamak/logits.h"
#include "tokamak/model_options.h"
#include "tokamak/ranking.h"
#include "tokamak/request.h"
#include "tokamak/speech.h"
#include "tokamak/transcript.h"

namespace tokamak {

/// The text that has come since the last piece.
struct TextPiece {
  struct Token {
    uint32_t id = 0;
    std::optional<Logprobs> logprobs = {};  // where they were asked for
  };
  std::string text = {};  // whole characters of UTF-8; may be empty
  std::vector<Token> tokens = {};
  std::string reasoning = {};  // that came before the text; see TextRequest::separate_reasoning
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
  /// Called by the model's thread whenever next() has something new, the end included, and at once
  /// where it has: wakes an event loop. In place of TextRequest::notify; null ends it. Not after
  /// the stream was dropped; until the call that drops it returns, a call may be in flight.
  void on_ready(std::function<void()> ready);
  /// Whether the request has ended and every piece was taken.
  bool ended() const;
  /// Cancels the request; result() then returns the text generated so far.
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

/// A description of the model that was opened. It does not change.
struct ModelDetails {
  std::string name = {};                        // the folder or file
  std::string architecture = {};                // as config.json names it
  std::string device = {};                      // its name
  uint32_t context = 0, sequences = 0;          // as they were settled
  uint32_t vocabulary = 0;                      // tokens
  uint32_t dimensions = 0;                      // of its embeddings; 0: it generates text
  std::vector<std::string> embed_prompts = {};  // names for EmbedOptions::prompt
  uint64_t device_bytes = 0;                    // that its buffers take
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
  /// schema that is none or cannot be held, an image that is none, more images than fit or for a
  /// model that was opened for text, a model that writes no text, a closed model.
  Result<Stream> start(const TextRequest& request);

  /// Begins a request of a protocol that `tokamak serve` answers, such as "/v1/chat/completions"
  /// with the JSON of its body, and returns at once; docs/openai.md has the paths. "": a path that
  /// is asked by GET. What the server answers with an error has that answer here, too. Errors: a
  /// closed model, a model that speaks without a codec.
  Result<Call> call(std::string_view path, std::string_view body = "");

  /// The logits after the last of some tokens, before any rule of sampling, or after each of them:
  /// rows of ModelDetails::vocabulary numbers; blocks. Errors: no tokens, more than the context
  /// has, an id beyond the vocabulary, a model that writes no text, a closed model, kCancelled.
  Result<std::vector<float>> logits(std::span<const uint32_t> ids,
                                    const LogitsOptions& options = {});

  /// One vector per text; blocks. Texts are cut off or refused one by one, as the options say; an
  /// error names the text. Errors: a model that gives no embeddings, an unknown prompt, more
  /// dimensions than there are, a closed model, kCancelled.
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                const EmbedOptions& options = {});

  /// The sparse vector of each text, of models that make one beside the other, as BGE-M3 does;
  /// blocks. Of the options, `dimensions` and `normalize` have no effect. Errors: as of embed().
  Result<std::vector<SparseVector>> embed_sparse(std::span<const std::string> texts,
                                                 const EmbedOptions& options = {});

  /// How well each document answers the query, in their order: more is better; blocks. Errors: a
  /// model that does not rank, a query that leaves no room for a document, a closed model,
  /// kCancelled.
  Result<std::vector<float>> rerank(std::string_view query, std::span<const std::string> documents,
                                    const RerankOptions& options = {});

  /// Writes down what is said in a recording: samples of one channel at 16 kHz, as
  /// decode_recording() gives them; blocks. Callbacks come from the model's thread. Errors: no
  /// speech-to-text model, samples that are no numbers, an unknown language, a closed model,
  /// kCancelled.
  Result<Transcript> transcribe(std::span<const float> samples,
                                const TranscribeOptions& options = {},
                                const TranscribeCallbacks& callbacks = {});

  /// Speaks a text; blocks. Errors: no text-to-speech model, no codec for it, a text that has
  /// nothing to speak, numbers out of range, a closed model, kCancelled.
  Result<Speech> speak(std::string_view text, const SpeakOptions& options = {});

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
