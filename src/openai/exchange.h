// One request for text on its way: what the scheduler hands over becomes an answer or a stream.
#pragma once
#include <memory>

#include "openai/answers.h"
#include "openai/sink.h"
#include "openai/text_job.h"

namespace tokamak::openai {

class TextExchange : public std::enable_shared_from_this<TextExchange> {
 public:
  using Random = std::function<uint64_t()>;

  /// `tokenizer` outlives it; so does what `random` refers to.
  TextExchange(const Tokenizer& tokenizer, AnswerHead head, TextJob job, ToolFormat tools,
               Random random, Sink sink);

  /// Answers to all prompts.
  size_t size() const { return choices_.size(); }
  /// The request of one of them, which keeps this alive.
  Request request(size_t index);

  /// Answers with an error, also in the middle of a stream; the other choices end.
  void fail(const ApiError& error);
  /// Nobody listens any more: the sink is not called again.
  void abandon() { is_over_ = true; }
  bool is_over() const { return is_over_; }

 private:
  struct Choice {
    explicit Choice(ToolFormat tools) : reader(tools) {}

    ToolCallReader reader;
    std::string content;  // of a whole answer
    Json::Array calls;    // the same
    uint32_t call_count = 0;
    std::vector<Logprobs> logprobs;  // that no chunk has yet; all of a whole answer
    uint64_t text_offset = 0;
    Generation end;
    bool has_begun = false, has_ended = false;
  };

  void take_token(size_t index, uint32_t id, const Logprobs* logprobs);
  void take_text(size_t index, std::string_view text);
  void take_end(size_t index, Result<Generation> end);
  void take_piece(size_t index, ToolCallReader::Piece piece);

  void begin_stream(size_t index);
  /// A chunk of a stream; `delta`: of a chat its delta, of a completion its text.
  void write_chunk(size_t index, Json delta, std::string_view finish);
  void finish_all();
  Json whole_choice(size_t index);
  Json logprobs_of(Choice& choice);
  std::string_view finish_of(const Choice& choice) const;
  Usage usage() const;
  const Request& prompt_of(size_t index) const { return job_.prompts[index / job_.choices]; }

  const Tokenizer* tokenizer_;
  AnswerHead head_;
  TextJob job_;
  Random random_;
  Sink sink_;
  std::vector<Choice> choices_;
  bool has_begun_ = false, is_over_ = false;
};

}  // namespace tokamak::openai
