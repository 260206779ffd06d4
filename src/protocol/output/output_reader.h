// The output of a model, divided while it comes: reasoning, content and calls of tools.
//
// It never fails: what does not parse is content. Arguments of calls that a grammar holds come as
// the model writes them; other calls are given when they are whole, and their arguments in one
// piece. Where a mark is one token, only that token counts and not a text that spells it; else
// texts are held back as long as they may become a mark.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/output/channels.h"

namespace tokamak::protocol {

class OutputReader {
 public:
  /// `form` outlives it.
  explicit OutputReader(const OutputFormat& form);

  OutputParts push(std::string_view text);
  /// A token that is one of the form's marks.
  OutputParts push_mark(std::string_view mark);
  /// Gives the rest, which might have become a mark or a call. `is_cut`: a limit ended the
  /// answer, so that a call without its end is not content but lost.
  OutputParts finish(bool is_cut = false);

  bool is_reasoning() const {
    return channels_ ? channels_->is_reasoning() : state_ == State::kReasoning;
  }

 private:
  enum class State : uint8_t { kReasoning, kContent, kCall, kMaybeCall, kArguments, kCallEnd };

  struct Mark {
    size_t at = std::string::npos;
    std::string_view text;
  };

  std::vector<std::string_view> watched() const;
  Mark first_mark() const;
  void take_pending(OutputParts& out);
  void enter(std::string_view mark);
  State at_beginning() const;
  void say(std::string_view text, OutputParts& out);
  void end_call();
  void take_held_call(OutputParts& out);
  void take_arguments(OutputParts& out);
  bool say_calls(std::string_view text, OutputParts& out);
  bool may_be_whole_call() const;
  bool is_surely_call() const;

  const OutputFormat* form_;
  std::optional<ChannelReader> channels_;  // in place of all below
  State state_;
  std::string pending_;       // not yet known what it is
  std::string space_;         // of reasoning, left out where nothing follows
  bool has_begun_ = false;    // something but white space is content
  bool skips_space_ = false;  // after reasoning or a call
  bool is_marked_answer_ = false;
  uint32_t depth_ = 0;  // of the arguments in flight
  bool is_quoted_ = false, is_escaped_ = false;
};

}  // namespace tokamak::protocol
