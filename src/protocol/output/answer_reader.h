// AnswerReader: the tokens of an answer, divided into reasoning, content and calls while they come.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/sample/stop.h"
#include "protocol/output/output_reader.h"
#include "protocol/output/tool_call.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak::protocol {

/// Calls of tools are content where the form has none.
class AnswerReader {
 public:
  using Show = std::function<void(bool is_reasoning, std::string_view text)>;

  /// `stop`: texts of the content that end the answer; `end_ids`: tokens that end it and are no
  /// part of it. REQUIRES: the tokenizer and `marks` outlive it.
  AnswerReader(const Tokenizer& tokenizer, OutputFormat form, const std::vector<TokenMark>& marks,
               std::vector<std::string> stop, std::vector<uint32_t> end_ids, Show show);
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  /// Nothing is read any more once has_stopped().
  void take(uint32_t id);
  /// Shows what was held back, as it might have become a mark or a stop text. `is_cut`: a limit
  /// ended the answer, so that a call without its end is lost.
  void finish(bool is_cut = false);
  /// The calls that have become whole since the last time.
  std::vector<ToolCall> take_calls();

  bool has_stopped() const { return stop_.stopped(); }
  bool is_reasoning() const { return reader_.is_reasoning(); }
  /// How many were read, up to the one that has stopped the answer.
  size_t tokens() const { return tokens_; }
  uint32_t reasoning_tokens() const { return reasoning_tokens_; }
  /// The text that has stopped the answer; else "".
  std::string stop() const { return std::string(stop_.matched().value_or("")); }
  const std::string& reasoning() const { return reasoning_; }
  const std::string& content() const { return content_; }

 private:
  void show(const OutputParts& parts);
  void show_content(std::string_view text);

  const Tokenizer& tokenizer_;
  const OutputFormat form_;
  const std::vector<TokenMark>& marks_;
  const std::vector<uint32_t> end_ids_;
  StreamDecoder decoder_;
  OutputReader reader_;
  StopMatcher stop_;
  Show show_;
  size_t tokens_ = 0;
  uint32_t reasoning_tokens_ = 0;
  std::string reasoning_, content_;
  ToolCall call_;  // that is being read
  std::vector<ToolCall> calls_;
};

}  // namespace tokamak::protocol
