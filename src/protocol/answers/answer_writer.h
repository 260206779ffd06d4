// Writers make bytes of what models say, each in the shape of one protocol. All get the same
// events, so that answers agree whatever protocol they are asked for in.
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "protocol/answers/logprob_shapes.h"
#include "protocol/output/output_reader.h"
#include "protocol/requests/api_error.h"
#include "protocol/requests/fields.h"
#include "text/tokenizer/tokenizer.h"
#include "tokamak/generation.h"

namespace tokamak::protocol {

/// The fields that every answer to one request, and every chunk of it, begins with.
struct AnswerHead {
  std::string id;
  int64_t created = 0;  // unix seconds
  std::string model, fingerprint;
  uint64_t prompt_tokens = 0;         // of all prompts, before anything has run
  bool counts_usage = false;          // in streams that have it on request only
  bool has_logprobs = false;          // asked for
  Json call_shapes;                   // as Fields has them
  bool has_opaque_reasoning = false;  // in items of it
  const Tokenizer* tokenizer = nullptr;
  std::function<uint64_t()> random;       // for ids of parts
  std::function<void(const Json&)> keep;  // receives the items of a whole answer; null: nobody
};

/// A stretch of an answer: reasoning, content, or a call.
struct CompletionItem {
  OutputPart::Kind kind = OutputPart::Kind::kContent;  // kCallBegin: a call
  std::string text;                                    // of a call its arguments
  std::string name, id;                                // of a call
  bool is_cut = false;                                 // a limit ended the answer within it
};

enum class Finish : uint8_t { kStop, kLength, kToolCalls };

/// The output of one choice so far.
struct Completion {
  std::vector<CompletionItem> items;
  std::vector<CompletionToken>
      tokens;  // where logprobs are asked for; of a stream: that no chunk has yet
  Finish finish = Finish::kStop;
  std::string stop;  // the stop text that ended it
  uint64_t reasoning_tokens = 0;
  bool is_calls_only = false;  // by its request: it has no content, not even an empty one
  Generation end;

  /// All texts of that kind.
  std::string text_of(OutputPart::Kind kind) const;
  /// How many of the items up to `item` are calls, whole or cut: the index of a call is one less.
  uint64_t calls_until(size_t item) const;
};

struct Usage {
  uint64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0, reasoning_tokens = 0;
  double prefill_seconds = 0, decode_seconds = 0;  // of the first choice
};

class AnswerWriter {
 public:
  explicit AnswerWriter(AnswerHead head) : head_(std::move(head)) {}
  AnswerWriter(const AnswerWriter&) = delete;
  virtual ~AnswerWriter() = default;

  virtual std::string_view stream_type() const { return "text/event-stream; charset=utf-8"; }
  virtual std::string_view call_prefix() const { return "call_"; }

  // Texts of a stream, in this order; each takes completion.tokens where it has a place for them.
  virtual std::string begin(size_t choice, Completion& completion) = 0;
  /// `part` is the last of completion.items, or more of it.
  virtual std::string part(size_t choice, Completion& completion, const OutputPart& part) = 0;
  virtual std::string end(size_t choice, Completion& completion) = 0;
  virtual std::string finish(std::span<const Completion> completions, const Usage& usage) = 0;
  virtual std::string error(const ApiError& error) const = 0;

  /// In place of a stream.
  virtual Json whole(std::span<const Completion> completions, const Usage& usage) = 0;

 protected:
  const AnswerHead& head() const { return head_; }

 private:
  AnswerHead head_;
};

/// One event of text/event-stream, of a type where it has one.
std::string event(const Json& data, std::string_view type = {});

/// A prefix and letters and digits from `random`.
std::string random_id(std::string_view prefix, const std::function<uint64_t()>& random,
                      size_t letters = 24);

}  // namespace tokamak::protocol
