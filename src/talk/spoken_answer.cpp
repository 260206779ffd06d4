#include "talk/spoken_answer.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {
namespace {

/// How fast people speak who are in no hurry, where the end of a sound is not known yet.
constexpr double kBytesASecond = 15;

/// The words that end within the first `bytes` of a text in one line.
std::string_view whole_words(std::string_view text, double bytes) {
  if (bytes >= double(text.size())) return text;
  const size_t space = text.rfind(' ', size_t(bytes));
  return text.substr(0, space == text.npos ? 0 : space);
}

}  // namespace

void SpokenAnswer::say(uint32_t number, std::string_view piece, size_t samples) {
  TOK_CHECK(number == pieces_.size() || number == pieces_.size() + 1);
  if (number > pieces_.size()) {
    pieces_.push_back({std::string(piece), this->samples(), this->samples()});
  }
  pieces_.back().end += samples;
}

std::string SpokenAnswer::heard(uint64_t played) const {
  if (has_ended_ && played >= samples()) return text_;
  std::string out;
  for (const Piece& piece : pieces_) {
    if (played <= piece.begin) break;
    const bool is_whole = has_ended_ || &piece != &pieces_.back();
    const double estimate = double(piece.text.size()) / kBytesASecond * rate_;
    const auto made = double(piece.end - piece.begin);
    const double length = is_whole ? made : std::max(made, estimate);
    const double share = double(played - piece.begin) / length;
    const std::string_view words = whole_words(piece.text, share * double(piece.text.size()));
    if (words.empty()) break;
    out += (out.empty() ? "" : " ") + std::string(words);
  }
  return out;
}

}  // namespace tokamak
