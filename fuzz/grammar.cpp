// A grammar that parses must be followed without end or harm, and a text that is taken piece by
// piece must be taken at once, too. The bytes after the first 0 are the text.
#include <algorithm>
#include <cstdlib>

#include "text/grammar/matcher.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(all.find('\0'), size);
  const auto grammar = tokamak::Grammar::parse(all.substr(0, end));
  if (!grammar) return 0;
  const std::string_view text = all.substr(std::min(end + 1, size)).substr(0, 256);
  tokamak::GrammarMatcher whole(*grammar), pieces(*grammar);
  bool taken = true;
  for (size_t i = 0; i < text.size() && taken; ++i) {
    taken = pieces.allows(text.substr(i, 1));
    if (taken) pieces.push(text.substr(i, 1));
  }
  if (whole.allows(text) != taken) std::abort();
  if (!taken) return 0;
  whole.push(text);
  if (whole.may_end() != pieces.may_end()) std::abort();
  return 0;
}
