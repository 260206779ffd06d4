// Answers in channels, as models of the harmony form (gpt-oss) give them: messages, each with a
// header that names its channel.
//
//   <|channel|>analysis<|message|>why<|end|><|start|>assistant
//   <|channel|>commentary to=functions.f <|constrain|>json<|message|>{...}<|call|>
//   <|channel|>final<|message|>Yes.<|return|>
//
// analysis is reasoning, a message to a function is a call, everything else is content. The marks
// are special tokens, and text that spells them is text.
#pragma once
#include <string>
#include <string_view>

#include "protocol/output/output_format.h"

namespace tokamak::protocol {

/// The marks of headers and bodies, in ToolFamily::inner.
inline constexpr std::string_view kStartMark = "<|start|>", kChannelMark = "<|channel|>",
                                  kConstrainMark = "<|constrain|>", kMessageMark = "<|message|>",
                                  kEndMark = "<|end|>", kCallMark = "<|call|>",
                                  kReturnMark = "<|return|>";

/// The counterpart of OutputReader for models with channels.
class ChannelReader {
 public:
  /// `form` outlives it.
  explicit ChannelReader(const OutputFormat& form);

  OutputParts push(std::string_view text);
  OutputParts push_mark(std::string_view mark);
  OutputParts finish(bool is_cut);
  /// Takes a text in which marks are spelled.
  OutputParts push_spelled(std::string_view text);

  bool is_reasoning() const { return body_ == Body::kReasoning; }

 private:
  enum class Body : uint8_t { kNone, kReasoning, kContent, kCall };

  void begin_body(OutputParts& out);
  void say(std::string_view text, OutputParts& out);
  void end_body(bool is_cut, OutputParts& out);
  void end_call(bool is_cut, OutputParts& out);

  const OutputFormat* form_;
  Body body_ = Body::kNone;
  std::string header_;       // so far, with its marks
  std::string name_, call_;  // of the call in flight, and its text so far
  bool has_marks_ = false;   // one has come
  bool has_reasoning_ = false, has_content_ = false, has_text_ = false;  // the body has some
};

}  // namespace tokamak::protocol
