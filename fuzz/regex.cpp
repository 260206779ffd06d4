// A regular expression of tokenizer.json, and after a line "---" a text to look for it in. What is
// accepted must give matches in order, inside the text and at whole characters.
#include "text/tokenizer/regex.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/unicode/unicode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  if (!tokamak::is_valid_utf8(input)) return 0;
  constexpr std::string_view kBetween = "\n---\n";
  const size_t end = input.find(kBetween);
  const auto regex = tokamak::Regex::compile(input.substr(0, end));
  if (!regex) return 0;
  const std::string_view text = end == input.npos ? "ab AB 12\u00e9\u65e5\n\n it's \u00df"
                                                  : input.substr(end + kBetween.size());
  std::vector<tokamak::TextRange> matches;
  if (!regex->find_all(text, matches)) return 0;
  size_t last = 0;
  for (const tokamak::TextRange& match : matches) {
    if (match.begin < last || match.end < match.begin || match.end > text.size()) std::abort();
    if (!tokamak::is_valid_utf8(text.substr(match.begin, match.end - match.begin))) std::abort();
    last = match.end;
  }
  return 0;
}
