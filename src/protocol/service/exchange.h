// One request for text on its way: what the scheduler hands over becomes an answer or a stream.
#pragma once
#include <memory>

#include "generate/sample/stop.h"
#include "protocol/answers/answer_writer.h"
#include "protocol/requests/sink.h"
#include "protocol/service/text_job.h"

namespace tokamak::protocol {

class TextExchange : public std::enable_shared_from_this<TextExchange> {
 public:
  using Random = std::function<uint64_t()>;

  /// `tokenizer` outlives it; so does what `random` refers to.
  TextExchange(const Tokenizer& tokenizer, std::unique_ptr<AnswerWriter> writer, Dialect dialect,
               TextJob job, Random random, Sink sink);

  /// Answers to all prompts.
  size_t size() const { return choices_.size(); }
  /// The request of one of them, which keeps this alive. The last one of a prompt takes that along.
  /// REQUIRES: called once for each, in their order.
  Request request(size_t index);

  /// Answers with an error, also in the middle of a stream; the other choices end.
  void fail(const ApiError& error);
  /// Nobody listens any more: the sink is not called again.
  void abandon() { is_over_ = true; }
  bool is_over() const { return is_over_; }

 private:
  struct Choice {
    Choice(const Tokenizer& tokenizer, const TextJob& job)
        : decoder(std::in_place, tokenizer, true), stop(job.stop), reader(job.form) {
      completion.is_calls_only = job.form.demands_calls;
    }

    std::optional<StreamDecoder> decoder;  // between two marks
    StopMatcher stop;                      // of content
    OutputReader reader;
    Completion completion;
    uint64_t tokens = 0;
    uint64_t characters = 0;       // of the text that all tokens have given
    double logprob = 0;            // of all tokens, for the best of them
    std::vector<Logprobs> prompt;  // of its tokens but the first, until they are written
    bool has_begun = false, has_ended = false;
    bool is_cut = false;  // it is complete by its form: the rest does not count
  };

  void take_token(size_t index, uint32_t id, const Logprobs* logprobs);
  void take_end(size_t index, Result<Generation> end);
  void take_text(size_t index, std::string_view text);
  void take_parts(size_t index, const OutputParts& parts);
  void take_content(size_t index, std::string_view text);
  void say(size_t index, const OutputPart& part);
  void begin_stream(size_t index);
  void finish_all();
  /// The choices that are shown: the best of each prompt.
  std::vector<Completion> shown();
  Usage usage() const;
  const Request& prompt_of(size_t index) const { return job_.prompts[index / job_.choices]; }

  const Tokenizer* tokenizer_;
  std::unique_ptr<AnswerWriter> writer_;
  Dialect dialect_;
  TextJob job_;
  Random random_;
  Sink sink_;
  std::vector<Choice> choices_;
  bool has_begun_ = false, is_over_ = false;
};

}  // namespace tokamak::protocol
