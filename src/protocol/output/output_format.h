// How the words of a model are read, and what they are read as.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/output/tool_family.h"

namespace tokamak::protocol {

/// Part of an answer, in the order of the model's words. A call is a beginning with its name, its
/// arguments in any number of pieces, and an end; kCallCut where the answer ended within them.
struct OutputPart {
  enum class Kind : uint8_t {
    kReasoning,
    kContent,
    kCallBegin,
    kCallArguments,
    kCallEnd,
    kCallCut
  };
  Kind kind = Kind::kContent;
  std::string text;
  bool operator==(const OutputPart&) const = default;
};

using OutputParts = std::vector<OutputPart>;

/// A token that is a mark of reasoning or of calls.
struct TokenMark {
  uint32_t id = 0;
  std::string text;
  bool is_special = false;  // it is no part of texts otherwise
};

struct OutputFormat {
  std::string reasoning_open, reasoning_close;  // empty: it is content
  std::string answer_open, answer_close;        // around the content, of which they are no part
  bool has_channels = false;               // ChannelReader reads it, and reasoning has no marks
  bool keeps_reasoning = false;            // in the content, with its marks
  std::string opened;                      // of channels: what the prompt has of a header
  bool starts_in_reasoning = false;        // the prompt has opened it
  const ToolFamily* tools = nullptr;       // null: calls are content
  Json tool_list;                          // as in the request
  std::vector<std::string> token_marks;    // which come by push_mark() only
  std::vector<std::string> special_marks;  // that are special tokens
  bool holds_calls = false;                // to {"name": "f", "arguments": {...}}, by a grammar
  bool demands_calls = false;  // the grammar lets nothing else come, so that nothing is content
};

}  // namespace tokamak::protocol
