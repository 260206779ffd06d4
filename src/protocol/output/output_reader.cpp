#include "protocol/output/output_reader.h"

#include <algorithm>
#include <utility>

#include "protocol/output/argument_values.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
using Kind = OutputPart::Kind;
// The length that the start of a call as the whole message fits in: names have at most 64 bytes.
constexpr size_t kMaxCallStart = 128;

/// How many bytes at the end of `text` may be the beginning of `mark`.
size_t held_back(std::string_view text, std::string_view mark) {
  for (size_t n = std::min(text.size(), mark.size() - 1); n > 0; --n) {
    if (mark.starts_with(text.substr(text.size() - n))) return n;
  }
  return 0;
}

void add(OutputParts& out, Kind kind, std::string_view text) {
  if (text.empty()) return;
  if (!out.empty() && out.back().kind == kind) {
    out.back().text += text;
  } else {
    out.push_back({kind, std::string(text)});
  }
}

}  // namespace

OutputReader::OutputReader(const OutputFormat& form)
    : form_(&form), state_(form.starts_in_reasoning ? State::kReasoning : State::kContent) {
  if (form.has_channels) channels_.emplace(form);
  skips_space_ = form.starts_in_reasoning;
  if (state_ == State::kContent) state_ = at_beginning();
}

OutputReader::State OutputReader::at_beginning() const {
  const bool may_be_call = form_->tools != nullptr && form_->tools->is_whole_message;
  return may_be_call ? State::kMaybeCall : State::kContent;
}

std::vector<std::string_view> OutputReader::watched() const {
  std::vector<std::string_view> marks;
  switch (state_) {
    case State::kReasoning:
      marks.push_back(form_->reasoning_close);
      break;
    case State::kCall:
    case State::kCallEnd:
      marks.push_back(form_->tools->close);
      break;
    case State::kArguments:
      break;
    case State::kContent:
    case State::kMaybeCall:
      if (!has_begun_) marks.push_back(form_->reasoning_open);
      if (!has_begun_) marks.push_back(form_->answer_open);
      if (is_marked_answer_) marks.push_back(form_->answer_close);
      if (form_->tools != nullptr) marks.push_back(form_->tools->open);
      break;
  }
  std::erase_if(marks, [&](std::string_view mark) {
    return mark.empty() || std::ranges::find(form_->token_marks, mark) != form_->token_marks.end();
  });
  return marks;
}

OutputReader::Mark OutputReader::first_mark() const {
  Mark first;
  for (const std::string_view mark : watched()) {
    const size_t at = pending_.find(mark);
    if (at >= first.at) continue;
    // Reasoning comes before everything else: after some content the mark is content.
    const bool is_first = mark == form_->reasoning_open || mark == form_->answer_open;
    const bool is_late =
        state_ != State::kReasoning && is_first && pending_.find_first_not_of(kSpace) < at;
    if (!is_late) first = {at, mark};
  }
  return first;
}

void OutputReader::say(std::string_view text, OutputParts& out) {
  if (skips_space_) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    if (text.empty()) return;
    skips_space_ = false;
  }
  if (state_ != State::kReasoning) {
    if (form_->demands_calls) return;
    has_begun_ = has_begun_ || text.find_first_not_of(kSpace) != std::string_view::npos;
    return add(out, Kind::kContent, text);
  }
  const size_t end = text.find_last_not_of(kSpace) + 1;
  if (end > 0) {
    add(out, Kind::kReasoning, std::exchange(space_, {}));
    add(out, Kind::kReasoning, text.substr(0, end));
  }
  space_ += text.substr(end);
}

bool OutputReader::say_calls(std::string_view text, OutputParts& out) {
  const auto calls = form_->tools->parse(text, form_->tool_list);
  if (!calls) return false;
  for (const ToolCall& call : *calls) {
    out.push_back({Kind::kCallBegin, call.name});
    out.push_back({Kind::kCallArguments, call.arguments});
    out.push_back({Kind::kCallEnd, {}});
  }
  skips_space_ = true;
  return true;
}

void OutputReader::end_call() {
  state_ = State::kContent;
  skips_space_ = true;
}

void OutputReader::enter(std::string_view mark) {
  if (state_ == State::kReasoning) {
    space_.clear();
    state_ = has_begun_ ? State::kContent : at_beginning();
    skips_space_ = true;
  } else if (mark == form_->reasoning_open) {
    state_ = State::kReasoning;
    skips_space_ = true;
  } else if (mark == form_->answer_open || mark == form_->answer_close) {
    is_marked_answer_ = mark == form_->answer_open;
    skips_space_ = true;
  } else {
    state_ = State::kCall;
  }
}

/// Tells the beginning of a call that a grammar holds as soon as its arguments follow.
void OutputReader::take_held_call(OutputParts& out) {
  const size_t begin = std::min(pending_.find_first_not_of(kSpace), pending_.size());
  const std::string_view text = std::string_view(pending_).substr(begin);
  if (!text.starts_with(kCallStart)) return;
  const size_t name_end = text.find('"', kCallStart.size());
  if (name_end == std::string_view::npos) return;
  const std::string middle = call_middle(*form_->tools);
  if (!text.substr(name_end).starts_with(middle + "{")) return;
  const std::string_view name = text.substr(kCallStart.size(), name_end - kCallStart.size());
  out.push_back({Kind::kCallBegin, std::string(name)});
  pending_.erase(0, begin + name_end + middle.size());
  state_ = State::kArguments;
}

/// Takes as much as there is of an object in JSON.
void OutputReader::take_arguments(OutputParts& out) {
  size_t end = 0;
  bool is_whole = false;
  while (end < pending_.size() && !is_whole) {
    const char c = pending_[end++];
    if (is_quoted_) {
      is_quoted_ = c != '"' || is_escaped_;
      is_escaped_ = c == '\\' && !is_escaped_;
    } else if (c == '"') {
      is_quoted_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      is_whole = --depth_ == 0;
    }
  }
  add(out, Kind::kCallArguments, std::string_view(pending_).substr(0, end));
  pending_.erase(0, end);
  if (!is_whole) return;
  out.push_back({Kind::kCallEnd, {}});
  state_ = State::kCallEnd;
}

/// Whether the message so far may become {"name": "f", ...} with a function that there is.
bool OutputReader::may_be_whole_call() const {
  std::string text;
  size_t quotes = 0;
  for (const char c : pending_) {
    if (quotes % 2 == 0 && kSpace.find(c) != std::string_view::npos) continue;
    quotes += c == '"';
    text += c;
    if (text.size() > kMaxCallStart) break;
  }
  for (const std::string_view start : kWholeCallStarts) {
    const std::string_view found = std::string_view(text).substr(0, start.size());
    if (!start.starts_with(found)) continue;
    if (found.size() < start.size()) return true;
    const std::string_view rest = std::string_view(text).substr(start.size());
    const size_t end = rest.find('"');
    return end == std::string_view::npos || !form_->tool_list.is_array() ||
           function_named(form_->tool_list, rest.substr(0, end)) != nullptr;
  }
  return false;
}

void OutputReader::take_pending(OutputParts& out) {
  for (;;) {
    const bool is_call = state_ == State::kCall || state_ == State::kMaybeCall;
    if (form_->holds_calls && is_call) take_held_call(out);
    if (state_ == State::kArguments) take_arguments(out);
    if (state_ == State::kArguments) return;
    if (state_ == State::kMaybeCall) {
      if (may_be_whole_call()) return;
      const bool may_open_reasoning = first_mark().at != std::string::npos ||
                                      std::ranges::any_of(watched(), [&](std::string_view mark) {
                                        return held_back(pending_, mark) > 0;
                                      });
      if (!may_open_reasoning) state_ = State::kContent;
    }
    const Mark mark = first_mark();
    if (mark.at == std::string::npos) break;
    const std::string before = pending_.substr(0, mark.at);
    pending_.erase(0, mark.at + mark.text.size());
    if (state_ == State::kCallEnd) {
      end_call();
      continue;
    }
    if (state_ != State::kCall) {
      say(before, out);
      enter(mark.text);
      continue;
    }
    state_ = State::kContent;
    if (!say_calls(before, out)) {
      say(std::string(form_->tools->open) + before + std::string(mark.text), out);
    }
  }
  if (state_ == State::kCall || state_ == State::kCallEnd) return;
  size_t held = 0;
  for (const std::string_view mark : watched()) held = std::max(held, held_back(pending_, mark));
  const std::string ready = pending_.substr(0, pending_.size() - held);
  pending_.erase(0, ready.size());
  say(ready, out);
}

OutputParts OutputReader::push(std::string_view text) {
  if (channels_) return channels_->push(text);
  OutputParts out;
  pending_ += text;
  take_pending(out);
  return out;
}

OutputParts OutputReader::push_mark(std::string_view mark) {
  if (channels_) return channels_->push_mark(mark);
  OutputParts out;
  const ToolFamily* tools = form_->tools;
  const bool is_in_call =
      state_ == State::kCall || state_ == State::kArguments || state_ == State::kCallEnd;
  const bool closes = state_ == State::kReasoning
                          ? mark == form_->reasoning_close
                          : is_in_call && state_ != State::kArguments && mark == tools->close;
  const bool opens =
      state_ != State::kReasoning && !is_in_call &&
      (((mark == form_->reasoning_open || mark == form_->answer_open) && !has_begun_) ||
       (mark == form_->answer_close && is_marked_answer_) ||
       (tools != nullptr && mark == tools->open));
  if (!closes && !opens) {
    // Within a call it is part of it, and so it is of a longer mark; elsewhere it has no meaning,
    // unless it is of reasoning.
    const bool is_of_mark =
        tools != nullptr && mark != tools->open && tools->open.find(mark) != std::string_view::npos;
    if (is_in_call || is_of_mark || form_->keeps_reasoning) pending_ += mark;
    if (state_ == State::kArguments || !is_in_call) take_pending(out);
    return out;
  }
  const std::string before = std::exchange(pending_, {});
  if (state_ == State::kCallEnd) {
    end_call();
    return out;
  }
  if (state_ == State::kCall) {
    state_ = State::kContent;
    if (!say_calls(before, out)) say(std::string(tools->open) + before + std::string(mark), out);
    return out;
  }
  say(before, out);
  enter(mark);
  return out;
}

/// Whether text after `open` can be nothing but a call: the mark is a token, or a grammar held it.
bool OutputReader::is_surely_call() const {
  const auto& tokens = form_->token_marks;
  return form_->holds_calls || std::ranges::find(tokens, form_->tools->open) != tokens.end();
}

OutputParts OutputReader::finish(bool is_cut) {
  if (channels_) return channels_->finish(is_cut);
  OutputParts out;
  const std::string rest = std::exchange(pending_, {});
  if (state_ == State::kArguments) {
    out.push_back({Kind::kCallCut, {}});
    return out;
  }
  if (state_ == State::kCallEnd) return out;
  if (state_ == State::kCall || state_ == State::kMaybeCall) {
    const bool is_opened = state_ == State::kCall;
    state_ = State::kContent;
    if (!rest.empty() && say_calls(rest, out)) return out;
    if (is_opened && is_cut && is_surely_call()) return out;
    if (is_opened) say(form_->tools->open, out);
  }
  say(rest, out);
  return out;
}

}  // namespace tokamak::protocol
