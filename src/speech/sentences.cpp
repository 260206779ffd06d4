#include "speech/sentences.h"

#include <algorithm>

#include "base/ascii.h"
#include "text/template/unicode.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

constexpr std::u32string_view kEnds = U".!?…‼⁇⁈⁉؟۔।॥", kWideEnds = U"。！？｡．";
constexpr std::u32string_view kClosing = U"\"')]}”’»›」』）】";
constexpr std::u32string_view kClauses = U",;:—–،؛", kWideClauses = U"、，；：";

/// In small letters and without the last period; sorted.
constexpr std::string_view kAbbreviations[] = {
    "abb",  "al",   "approx", "apr",  "aug", "ave",  "bd",     "blvd", "bsp",  "bspw",
    "bzw",  "ca",   "cap",    "capt", "cf",  "ch",   "co",     "col",  "corp", "dec",
    "dept", "dott", "dr",     "eds",  "eq",  "esp",  "est",    "evtl", "feb",  "fig",
    "figs", "fr",   "gen",    "ggf",  "gov", "hon",  "hr",     "inc",  "jan",  "jr",
    "jul",  "jun",  "lt",     "ltd",  "maj", "mar",  "messrs", "mme",  "mr",   "mrs",
    "ms",   "mt",   "nos",    "nov",  "nr",  "núm",  "oct",    "okt",  "op",   "pp",
    "pres", "prof", "rep",    "rev",  "sen", "sept", "sgt",    "sig",  "sr",   "sra",
    "st",   "str",  "tel",    "univ", "vgl", "vol",  "vols",   "vs",   "zzgl",
};
static_assert(std::ranges::is_sorted(kAbbreviations));

bool is_one_of(char32_t c, std::u32string_view set) {
  return set.find(c) != set.npos;
}

/// The end of the run of characters of these sets that begins at `at`.
size_t after_run(std::string_view text, size_t at, std::u32string_view set,
                 std::u32string_view more = {}) {
  while (at < text.size()) {
    const Utf8Char c = first_char(text.substr(at));
    if (!is_one_of(c.value, set) && !is_one_of(c.value, more)) break;
    at += c.bytes;
  }
  return at;
}

size_t after_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Utf8Char c = first_char(text.substr(at));
    if (!is_whitespace(c.value)) break;
    at += c.bytes;
  }
  return at;
}

/// The word in front of a period, without what opens a quotation or brackets.
std::string_view last_word(std::string_view text) {
  size_t first = text.size();
  while (first > 0) {
    const Utf8Char c = last_char(text.substr(0, first));
    if (!is_word(c.value) && c.value != U'.') break;
    first -= c.bytes;
  }
  return text.substr(first);
}

/// Whether a period after this part of a sentence belongs to its last word.
bool is_abbreviated(std::string_view sentence) {
  const std::string_view word = last_word(sentence);
  if (word.empty()) return false;
  const bool is_number = std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  if (is_number) return trimmed(sentence) == word;  // of an item
  const bool is_letter = first_char(word).bytes == word.size();
  // An abbreviation such as "e.g." and "U.S.".
  const bool has_periods = word.find('.') != word.npos && word.size() <= 5;
  return is_letter || has_periods || std::ranges::binary_search(kAbbreviations, to_lower(word));
}

/// The end of the sentence that `text` begins with, if it ends with the mark at `at`; 0: it does
/// not, or that is not known yet.
size_t end_of_sentence(std::string_view text, size_t begin, size_t at, bool is_end) {
  const char32_t mark = first_char(text.substr(at)).value;
  const bool is_wide = is_one_of(mark, kWideEnds);
  if (!is_wide && !is_one_of(mark, kEnds)) return 0;
  const size_t marks = after_run(text, at, kEnds, kWideEnds);
  const size_t end = after_run(text, marks, kClosing);
  const size_t next = after_space(text, end);
  if (next == text.size()) return is_end || is_wide ? end : 0;
  if (is_wide) return end;
  if (next == end || jinja::is_lower(first_char(text.substr(next)).value)) return 0;
  const bool is_period = mark == U'.' && marks == at + 1;
  if (is_period && is_abbreviated(text.substr(begin, at - begin))) return 0;
  return end;
}

/// Whether the white space at `at` has an empty line.
bool is_paragraph(std::string_view text, size_t at) {
  const std::string_view space = text.substr(at, after_space(text, at) - at);
  return std::ranges::count(space, '\n') > 1;
}

/// The end of the first piece of `text`; 0: not known yet. `short_one`: it is one sentence at
/// most.
size_t end_of_piece(std::string_view text, size_t limit, bool short_one, bool is_end) {
  size_t sentence = 0, clause = 0, space = 0;
  size_t characters = 0;
  for (size_t at = 0; at < text.size(); ++characters) {
    if (characters == limit) {
      if (sentence > 0) return sentence;
      if (clause > 0) return clause;
      return space > 0 ? space : at;
    }
    const Utf8Char c = first_char(text.substr(at));
    if (const size_t end = end_of_sentence(text, sentence, at, is_end); end > 0) {
      // The marks themselves may be one too many.
      if (short_one) return end;
      sentence = end;
    }
    if (is_whitespace(c.value)) {
      if (is_paragraph(text, at)) return at;
      space = at;
    }
    at += c.bytes;
    // A clause of a word or two is no piece.
    const bool is_long = characters >= limit / 4;
    const bool before_space = at < text.size() && is_whitespace(first_char(text.substr(at)).value);
    const bool ends_clause =
        is_one_of(c.value, kWideClauses) || (is_one_of(c.value, kClauses) && before_space);
    if (is_long && ends_clause) clause = at;
  }
  return is_end ? text.size() : sentence;
}

/// All white space becomes one space; "" for what has no letter and no digit.
std::string in_one_line(std::string_view text) {
  std::string out;
  bool has_word = false;
  while (!text.empty()) {
    const Utf8Char c = first_char(text);
    if (!is_whitespace(c.value)) {
      append_utf8(out, c.value);
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
    has_word = has_word || (is_word(c.value) && c.value != U'_');
    text.remove_prefix(c.bytes);
  }
  if (out.ends_with(' ')) out.pop_back();
  return has_word ? out : "";
}

}  // namespace

std::optional<std::string> SentencePieces::next(bool is_end) {
  for (;;) {
    text_.erase(0, after_space(text_, 0));
    const size_t limit = is_first_ ? limits_.first : limits_.others;
    const size_t end = end_of_piece(text_, limit, is_first_, is_end);
    if (end == 0) return std::nullopt;
    std::string piece = in_one_line(std::string_view(text_).substr(0, end));
    text_.erase(0, end);
    if (piece.empty()) continue;
    is_first_ = false;
    return piece;
  }
}

}  // namespace tokamak
