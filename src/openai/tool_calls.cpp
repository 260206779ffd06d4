#include "openai/tool_calls.h"

#include <algorithm>
#include <optional>

#include "base/json.h"

namespace tokamak::openai {
namespace {

constexpr std::string_view kOpen = "<tool_call>", kClose = "</tool_call>";
constexpr std::string_view kSpace = " \t\r\n";

std::optional<ToolCall> parse_call(std::string_view text, std::string_view arguments_name) {
  const auto parsed = Json::parse(text);
  if (!parsed) return std::nullopt;
  const Json* name = parsed->find("name");
  const Json* arguments = parsed->find(arguments_name);
  if (name == nullptr || !name->is_string()) return std::nullopt;
  if (arguments == nullptr) return ToolCall{name->as_string(), "{}"};
  if (!arguments->is_object()) return std::nullopt;
  return ToolCall{name->as_string(), arguments->dump()};
}

/// How many bytes at the end of `text` may be the beginning of `marker`.
size_t held_back(std::string_view text, std::string_view marker) {
  for (size_t n = std::min(text.size(), marker.size() - 1); n > 0; --n) {
    if (marker.starts_with(text.substr(text.size() - n))) return n;
  }
  return 0;
}

}  // namespace

ToolFormat tool_format_of(std::string_view chat_template) {
  const auto has = [&](std::string_view text) {
    return chat_template.find(text) != std::string_view::npos;
  };
  if (has(kOpen) && has("\"arguments\"") && !has("<function=")) return ToolFormat::kHermes;
  if (has("\"parameters\"") && (has("<|python_tag|>") || has("ipython"))) {
    return ToolFormat::kLlama3;
  }
  return ToolFormat::kNone;
}

void ToolCallReader::take_content(std::string_view text, Piece& out) {
  if (skips_space_) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    if (!text.empty()) skips_space_ = false;
  }
  out.content += text;
}

void ToolCallReader::take_hermes(Piece& out) {
  for (;;) {
    const std::string_view marker = is_inside_ ? kClose : kOpen;
    const size_t at = pending_.find(marker);
    if (at == std::string::npos) break;
    const std::string before = pending_.substr(0, at);
    pending_.erase(0, at + marker.size());
    if (!is_inside_) {
      take_content(before, out);
    } else if (auto call = parse_call(before, "arguments")) {
      out.calls.push_back(*std::move(call));
      skips_space_ = true;
    } else {
      take_content(std::string(kOpen) + before + std::string(kClose), out);
    }
    is_inside_ = !is_inside_;
  }
  if (is_inside_) return;
  const size_t ready = pending_.size() - held_back(pending_, kOpen);
  take_content(std::string_view(pending_).substr(0, ready), out);
  pending_.erase(0, ready);
}

ToolCallReader::Piece ToolCallReader::push(std::string_view text) {
  Piece out;
  pending_ += text;
  if (format_ == ToolFormat::kHermes) {
    take_hermes(out);
    return out;
  }
  const size_t first = pending_.find_first_not_of(kSpace);
  const bool may_be_call =
      format_ == ToolFormat::kLlama3 && (first == std::string::npos || pending_[first] == '{');
  is_content_ = is_content_ || !may_be_call;
  if (is_content_) out.content = std::exchange(pending_, {});
  return out;
}

ToolCallReader::Piece ToolCallReader::finish() {
  Piece out;
  const bool may_be_call = format_ == ToolFormat::kLlama3 ? !is_content_ : is_inside_;
  if (may_be_call) {
    const auto name = format_ == ToolFormat::kLlama3 ? "parameters" : "arguments";
    if (auto call = parse_call(pending_, name)) {
      out.calls.push_back(*std::move(call));
      return out;
    }
  }
  take_content((is_inside_ ? std::string(kOpen) : "") + pending_, out);
  return out;
}

}  // namespace tokamak::openai
