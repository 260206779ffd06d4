#include "generate/sample/stop.h"

#include <algorithm>
#include <utility>

namespace tokamak {
namespace {

/// The length of the longest end of `text` that begins `stop` without being all of it.
size_t unfinished_match(std::string_view text, std::string_view stop) {
  for (size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length) {
    if (stop.starts_with(text.substr(text.size() - length))) return length;
  }
  return 0;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

std::string StopMatcher::push(std::string_view piece) {
  if (matched_) return {};
  std::string text = std::exchange(held_, {}) + std::string(piece);
  size_t match_begin = 0;
  size_t match_end = std::string::npos;
  for (size_t i = 0; i < stops_.size(); ++i) {
    const size_t begin = text.find(stops_[i]);
    if (begin == text.npos) continue;
    const size_t end = begin + stops_[i].size();
    if (end > match_end || (end == match_end && begin >= match_begin)) continue;
    match_begin = begin;
    match_end = end;
    matched_ = i;
  }
  if (matched_) {
    text.resize(match_begin);
    return text;
  }
  size_t hold = 0;
  for (const std::string& stop : stops_) hold = std::max(hold, unfinished_match(text, stop));
  held_ = text.substr(text.size() - hold);
  text.resize(text.size() - hold);
  return text;
}

std::string StopMatcher::finish() {
  if (matched_) return {};
  return std::exchange(held_, {});
}

std::optional<std::string_view> StopMatcher::matched() const {
  if (!matched_) return std::nullopt;
  return stops_[*matched_];
}

}  // namespace tokamak
