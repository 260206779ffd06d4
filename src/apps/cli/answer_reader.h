// AnswerReader: the tokens of an answer, told apart into reasoning and content while they come.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/thinking.h"
#include "generate/stop.h"
#include "openai/output_reader.h"

namespace tokamak::cli {

class AnswerReader {
 public:
  using Show = std::function<void(bool is_reasoning, std::string_view text)>;

  /// `stop`: texts of the content that end the answer; `end_ids`: tokens that end it and are no
  /// part of it. REQUIRES: the tokenizer and `marks` outlive it.
  AnswerReader(const Tokenizer& tokenizer, openai::OutputFormat form,
               const std::vector<openai::TokenMark>& marks, std::vector<std::string> stop,
               std::vector<uint32_t> end_ids, Show show);
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  /// Nothing is read any more once has_stopped().
  void take(uint32_t id);
  /// Shows what was held back, as it might have become a mark or a stop text.
  void finish();

  bool has_stopped() const { return stop_.stopped(); }
  bool is_reasoning() const { return reader_.is_reasoning(); }
  uint32_t reasoning_tokens() const { return reasoning_tokens_; }
  const std::string& reasoning() const { return reasoning_; }
  const std::string& content() const { return content_; }

 private:
  void show(const openai::OutputParts& parts);
  void show_content(std::string_view text);

  const Tokenizer& tokenizer_;
  const openai::OutputFormat form_;
  const std::vector<openai::TokenMark>& marks_;
  const std::vector<uint32_t> end_ids_;
  StreamDecoder decoder_;
  openai::OutputReader reader_;
  StopMatcher stop_;
  Show show_;
  uint32_t reasoning_tokens_ = 0;
  std::string reasoning_, content_;
};

/// Whether reasoning appears on standard output.
bool shows_reasoning(Think think);
/// A note where an answer ended before its reasoning did; else "".
std::string unfinished_reasoning(const AnswerReader& reader, const Generation& result);

/// Runs a request whose answer `reader` reads. `budget`: most tokens of reasoning, after which
/// `closing` stands in place of the rest. `request` has no stop texts of its own; its callbacks are
/// called as ever. The result's text is the content.
Result<Generation> generate_answer(Engine& engine, Request request, AnswerReader& reader,
                                   std::optional<uint32_t> budget,
                                   const std::vector<uint32_t>& closing);

}  // namespace tokamak::cli
