// Calls of tools in what a model writes, as its chat template has taught it to write them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::openai {

enum class ToolFormat : uint8_t {
  kNone,    // every text is content
  kHermes,  // <tool_call>{"name": "f", "arguments": {...}}</tool_call>, any number of them
  kLlama3,  // {"name": "f", "parameters": {...}} as the whole message
};

/// Which one a chat template shows its model.
ToolFormat tool_format_of(std::string_view chat_template);

struct ToolCall {
  std::string name;
  std::string arguments;  // a JSON object
  bool operator==(const ToolCall&) const = default;
};

/// Tells content and calls apart while the text comes. It never fails: what is no call is content.
class ToolCallReader {
 public:
  struct Piece {
    std::string content;  // final
    std::vector<ToolCall> calls;
  };

  explicit ToolCallReader(ToolFormat format) : format_(format) {}
  Piece push(std::string_view text);
  /// What was held back, as it might have become a call.
  Piece finish();

 private:
  void take_hermes(Piece& out);
  void take_content(std::string_view text, Piece& out);

  ToolFormat format_;
  std::string pending_;
  bool is_inside_ = false;    // of a call
  bool is_content_ = false;   // kLlama3: the message is none
  bool skips_space_ = false;  // after a call
};

}  // namespace tokamak::openai
