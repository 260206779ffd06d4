#include "text/tokenizer/text_pattern.h"

#include <algorithm>

#include "text/tokenizer/json_fields.h"

namespace tokamak {
namespace {

struct Span {
  TextRange range;
  bool is_match;
};

}  // namespace

Result<TextPattern> TextPattern::from_json(const Json& json) {
  if (json.is_string()) return TextPattern(json.as_string());
  if (json.find("String") != nullptr) {
    TOK_TRY(std::string literal, string_field(json, "String"));
    if (literal.empty()) return unsupported("The pattern \"String\" is empty.");
    return TextPattern(std::move(literal));
  }
  if (json.find("Regex") == nullptr) {
    return unsupported("The pattern has neither \"String\" nor \"Regex\".");
  }
  TOK_TRY(const std::string pattern, string_field(json, "Regex"));
  TOK_TRY(Regex regex, Regex::compile(pattern));
  return TextPattern(std::move(regex));
}

Result<void> TextPattern::find_all(std::string_view text, std::vector<TextRange>& matches) const {
  if (const auto* regex = std::get_if<Regex>(&pattern_)) return regex->find_all(text, matches);
  const auto& literal = std::get<std::string>(pattern_);
  for (size_t at = text.find(literal); at != text.npos; at = text.find(literal, at)) {
    matches.push_back({at, at + literal.size()});
    at += literal.size();
  }
  return {};
}

Result<std::string> TextPattern::replace(std::string_view text, std::string_view content) const {
  std::vector<TextRange> matches;
  TOK_TRY(find_all(text, matches));
  std::string out;
  out.reserve(text.size() + matches.size() * content.size());
  size_t at = 0;
  for (const TextRange& match : matches) {
    out += text.substr(at, match.begin - at);
    out += content;
    at = match.end;
  }
  out += text.substr(at);
  return out;
}

Result<SplitBehavior> split_behavior_field(const Json& object, std::string_view name,
                                           std::optional<SplitBehavior> fallback) {
  if (fallback && object.find(name) == nullptr) return *fallback;
  TOK_TRY(const std::string behavior, string_field(object, name));
  if (behavior == "Removed") return SplitBehavior::kRemoved;
  if (behavior == "Isolated") return SplitBehavior::kIsolated;
  if (behavior == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (behavior == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (behavior == "Contiguous") return SplitBehavior::kContiguous;
  return unsupported("The split behavior \"{}\" is not supported.", behavior);
}

void cut(size_t size, const std::vector<TextRange>& matches, SplitBehavior behavior, bool invert,
         std::vector<TextRange>& pieces) {
  std::vector<Span> spans;  // all of the text, matches and what is between them
  spans.reserve(matches.size() * 2 + 1);
  size_t at = 0;
  for (const TextRange& match : matches) {
    if (match.begin > at) spans.push_back({{at, match.begin}, invert});
    spans.push_back({match, !invert});
    at = match.end;
  }
  if (at < size) spans.push_back({{at, size}, invert});

  // A span joins the piece before it, or begins one; merging with the next is decided one span
  // late.
  const size_t first = pieces.size();
  bool previous_is_match = false;
  bool join_next = false;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    bool join = false;
    switch (behavior) {
      case SplitBehavior::kRemoved:
      case SplitBehavior::kIsolated:
        break;
      case SplitBehavior::kContiguous:
        join = span.is_match == previous_is_match;
        break;
      case SplitBehavior::kMergedWithPrevious:
        join = span.is_match && !previous_is_match;
        break;
      case SplitBehavior::kMergedWithNext:
        join = join_next;
        // Only the last of several matches in a row joins, and only a span that is no match.
        join_next = span.is_match && i + 1 < spans.size() && !spans[i + 1].is_match;
        break;
    }
    previous_is_match = span.is_match;
    if (behavior == SplitBehavior::kRemoved && span.is_match) continue;
    if (join && pieces.size() > first) {
      pieces.back().end = span.range.end;
    } else {
      pieces.push_back(span.range);
    }
  }
  const auto is_empty = [](const TextRange& piece) { return piece.begin == piece.end; };
  pieces.erase(std::remove_if(pieces.begin() + ptrdiff_t(first), pieces.end(), is_empty),
               pieces.end());
}

}  // namespace tokamak
