#include "memory/structure.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"

namespace tokamak::memory {
namespace {

constexpr std::string_view kBlanks = " \t\n";

size_t line_end(std::string_view text, size_t at) {
  return std::min(text.find('\n', at), text.size() - 1) + 1;
}

/// "```" or "~~~", as many as there are; "" for another line.
std::string_view fence_of(std::string_view line) {
  const char mark = line.empty() ? '\0' : line.front();
  if (mark != '`' && mark != '~') return "";
  const size_t count = std::min(line.find_first_not_of(mark), line.size());
  return count >= 3 ? line.substr(0, count) : "";
}

bool is_heading(std::string_view line) {
  const size_t level = std::min(line.find_first_not_of('#'), line.size());
  return level >= 1 && level <= 6 && level < line.size() && line[level] == ' ';
}

bool is_list_item(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) return true;
  const size_t digits = line.find_first_not_of("0123456789");
  return digits != line.npos && digits > 0 && digits < 4 &&
         (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") "));
}

bool ends_sentence(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == U'…';
}
/// These need no blank after them.
bool ends_wide_sentence(char32_t c) {
  return c == U'。' || c == U'！' || c == U'？';
}
bool closes(char32_t c) {
  return c == '"' || c == '\'' || c == ')' || c == ']' || c == U'”' || c == U'’' || c == U'»' ||
         c == U'」';
}

size_t without_blanks(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Piece> run() {
    while (at_ < text_.size()) {
      const size_t end = line_end(text_, at_);
      const std::string_view line = trimmed(text_.substr(at_, end - at_));
      if (line.empty()) {
        blank(end);
      } else if (const std::string_view fence = fence_of(line); !fence.empty()) {
        piece(fence_end(end, fence), Cut::kParagraph);
      } else if (is_heading(line)) {
        piece(end, Cut::kHeading);
        is_after_heading_ = true;  // it stays with what it is about
      } else if (line.front() == '|') {
        piece(end, Cut::kSentence);
      } else {
        sentences(paragraph_end(end));
      }
    }
    return std::move(pieces_);
  }

 private:
  void blank(size_t end) {
    if (pieces_.empty()) {
      pieces_.push_back({0, end, Cut::kWord});
    } else {
      pieces_.back().stop = end;
    }
    at_ = end;
    best_ = Cut::kParagraph;
  }

  /// `cut`: how good a place it is by itself; a blank line or a heading before it decides.
  void piece(size_t end, Cut cut) {
    const Cut before = cut == Cut::kHeading ? cut
                       : is_after_heading_  ? Cut::kWord
                                            : std::max(cut, best_);
    pieces_.push_back({at_, end, before});
    at_ = end;
    best_ = Cut::kWord;
    is_after_heading_ = false;
  }

  void sentences(size_t end) {
    while (at_ < end) piece(std::min(sentence_end(text_, at_), end), Cut::kSentence);
  }

  size_t fence_end(size_t at, std::string_view fence) const {
    while (at < text_.size()) {
      const size_t end = line_end(text_, at);
      const std::string_view line = trimmed(text_.substr(at, end - at));
      at = end;
      if (line.starts_with(fence) && line.find_first_not_of(fence[0]) == line.npos) return at;
    }
    return at;
  }

  /// The lines that belong together from the one that ends at `at`.
  size_t paragraph_end(size_t at) const {
    while (at < text_.size()) {
      const size_t end = line_end(text_, at);
      const std::string_view line = trimmed(text_.substr(at, end - at));
      if (line.empty() || !fence_of(line).empty() || is_heading(line) || line.front() == '|' ||
          is_list_item(line)) {
        return at;
      }
      at = end;
    }
    return at;
  }

  std::string_view text_;
  size_t at_ = 0;
  Cut best_ = Cut::kWord;
  bool is_after_heading_ = false;
  std::vector<Piece> pieces_;
};

/// Cuts a piece at the places that `next` gives from each on.
template <typename Next>
std::vector<Piece> cut_at(const Piece& piece, Cut cut, const Next& next) {
  std::vector<Piece> parts;
  for (size_t at = piece.start; at < piece.stop;) {
    const size_t end = std::min(next(at), piece.stop);
    parts.push_back({at, end, at == piece.start ? piece.before : cut});
    at = end;
  }
  return parts;
}

}  // namespace

size_t sentence_end(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Utf8Char c = first_char(text.substr(at));
    at += c.bytes;
    if (!ends_sentence(c.value) && !ends_wide_sentence(c.value)) continue;
    while (at < text.size()) {
      const Utf8Char next = first_char(text.substr(at));
      if (!closes(next.value) && !ends_sentence(next.value)) break;
      at += next.bytes;
    }
    const size_t end = without_blanks(text, at);
    if (end > at || end == text.size() || ends_wide_sentence(c.value)) return end;
  }
  return at;
}

std::vector<Piece> pieces_of(std::string_view text) {
  return Splitter(text).run();
}

std::vector<Piece> parts_of(std::string_view text, const Piece& piece) {
  const std::string_view own = text.substr(0, piece.stop);
  auto parts = cut_at(piece, Cut::kSentence, [&](size_t at) { return line_end(own, at); });
  if (parts.size() > 1) return parts;
  parts = cut_at(piece, Cut::kSentence, [&](size_t at) { return sentence_end(own, at); });
  if (parts.size() > 1) return parts;
  parts = cut_at(piece, Cut::kWord, [&](size_t at) {
    const size_t word = without_blanks(own, at);
    return without_blanks(own, std::min(own.find_first_of(kBlanks, word), own.size()));
  });
  if (parts.size() > 1) return parts;
  const std::string_view whole = own.substr(piece.start);
  size_t half = utf8_prefix(whole, whole.size() / 2).size();
  if (half == 0) half = first_char(whole).bytes;
  return {{piece.start, piece.start + half, piece.before},
          {piece.start + half, piece.stop, Cut::kWord}};
}

}  // namespace tokamak::memory
