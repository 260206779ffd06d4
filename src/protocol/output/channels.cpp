#include "protocol/output/channels.h"

#include <algorithm>
#include <utility>

#include "protocol/output/argument_values.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kSpace = " \t\r\n", kFunctions = "functions.", kRecipient = "to=";
constexpr std::string_view kMarks[] = {kStartMark, kChannelMark, kConstrainMark, kMessageMark,
                                       kEndMark,   kCallMark,    kReturnMark};

/// The word after the last `key` of a header, up to white space or a mark.
std::string_view word_after(std::string_view header, std::string_view key) {
  const size_t at = header.rfind(key);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size());
  header.remove_prefix(std::min(header.find_first_not_of(kSpace), header.size()));
  return header.substr(0, header.find_first_of(" \t\r\n<"));
}

bool may_begin(std::string_view whole, std::string_view text) {
  return whole.starts_with(text) || text.starts_with(whole);
}

}  // namespace

ChannelReader::ChannelReader(const OutputFormat& form) : form_(&form) {
  push_spelled(form.opened);
  has_marks_ = !header_.empty() || body_ != Body::kNone;
}

OutputParts ChannelReader::push_spelled(std::string_view text) {
  OutputParts out;
  const auto take = [&](OutputParts parts) {
    for (OutputPart& part : parts) out.push_back(std::move(part));
  };
  while (!text.empty()) {
    std::string_view next;
    size_t at = text.size();
    for (const std::string_view mark : kMarks) {
      if (const size_t found = text.find(mark); found < at) at = found, next = mark;
    }
    if (at > 0) take(push(text.substr(0, at)));
    if (!next.empty()) take(push_mark(next));
    text.remove_prefix(at + next.size());
  }
  return out;
}

OutputParts ChannelReader::push(std::string_view text) {
  OutputParts out;
  if (body_ == Body::kNone) {
    header_ += text;
    // An answer without any marks is content from its beginning on.
    if (has_marks_ || may_begin(" to=", header_)) return out;
    body_ = Body::kContent;
    text = header_;
  }
  say(text, out);
  return out;
}

OutputParts ChannelReader::push_mark(std::string_view mark) {
  OutputParts out;
  has_marks_ = true;
  const bool is_header = mark == kStartMark || mark == kChannelMark;
  if (mark == kMessageMark) {
    if (body_ == Body::kNone) begin_body(out);
  } else if (mark == kConstrainMark) {
    if (body_ == Body::kNone) header_ += mark;
  } else if (is_header || mark == kEndMark || mark == kCallMark || mark == kReturnMark) {
    if (body_ != Body::kNone || mark == kStartMark || !is_header) {
      end_body(false, out);
      header_.clear();
    }
    if (mark == kChannelMark) header_ += mark;
  }
  return out;
}

void ChannelReader::begin_body(OutputParts& out) {
  const std::string_view channel = word_after(header_, kChannelMark);
  std::string_view to = word_after(header_, kRecipient);
  has_text_ = false;
  const bool has_prefix = to.starts_with(kFunctions);
  if (has_prefix) to.remove_prefix(kFunctions.size());
  if (form_->tools != nullptr && !to.empty() &&
      (has_prefix || function_named(form_->tool_list, to) != nullptr)) {
    body_ = Body::kCall;
    name_ = to;
    if (form_->holds_calls) out.push_back({OutputPart::Kind::kCallBegin, name_});
  } else {
    body_ = channel == "analysis" ? Body::kReasoning : Body::kContent;
  }
}

void ChannelReader::say(std::string_view text, OutputParts& out) {
  using Kind = OutputPart::Kind;
  if (text.empty()) return;
  if (body_ == Body::kCall) {
    call_ += text;
    if (form_->holds_calls) out.push_back({Kind::kCallArguments, std::string(text)});
    return;
  }
  const bool is_reasoning = body_ == Body::kReasoning && !form_->keeps_reasoning;
  if (!is_reasoning && form_->demands_calls) return;
  bool& has_before = is_reasoning ? has_reasoning_ : has_content_;
  std::string said;
  if (!has_text_ && form_->keeps_reasoning && body_ == Body::kReasoning) {
    said = fmt::format("{}analysis{}", kChannelMark, kMessageMark);
  } else if (!has_text_ && has_before) {
    said = "\n";  // messages of one kind become one text
  }
  has_text_ = has_before = true;
  out.push_back({is_reasoning ? Kind::kReasoning : Kind::kContent, said + std::string(text)});
}

void ChannelReader::end_call(bool is_cut, OutputParts& out) {
  using Kind = OutputPart::Kind;
  const std::string text = std::exchange(call_, {});
  const bool is_empty = text.find_first_not_of(kSpace) == std::string::npos;
  const auto arguments = is_empty ? Result<Json>(Json(Json::Object{})) : Json::parse(text);
  const bool is_whole = arguments && arguments->is_object() && !(is_empty && is_cut);
  if (form_->holds_calls) {
    out.push_back({is_whole ? Kind::kCallEnd : Kind::kCallCut, {}});
  } else if (is_whole) {
    out.push_back({Kind::kCallBegin, name_});
    out.push_back({Kind::kCallArguments, arguments->dump()});
    out.push_back({Kind::kCallEnd, {}});
  } else if (!is_cut) {
    body_ = Body::kContent;
    say(text, out);
  }
}

void ChannelReader::end_body(bool is_cut, OutputParts& out) {
  if (body_ == Body::kCall) end_call(is_cut, out);
  if (body_ == Body::kReasoning && form_->keeps_reasoning && has_text_) {
    out.push_back({OutputPart::Kind::kContent, std::string(kEndMark)});
  }
  body_ = Body::kNone;
}

OutputParts ChannelReader::finish(bool is_cut) {
  OutputParts out;
  end_body(is_cut, out);
  return out;
}

}  // namespace tokamak::protocol
