// A JSON schema must become a grammar or an error without end or harm, and what the grammar lets
// begin must be followed. The bytes after the first 0 are the text.
#include <algorithm>

#include "text/grammar/matcher.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), std::min<size_t>(size, 4096));
  const size_t end = std::min(all.find('\0'), all.size());
  const auto grammar = tokamak::Grammar::from_json_schema(all.substr(0, end));
  if (!grammar) return 0;
  tokamak::GrammarMatcher matcher(*grammar);
  for (const char byte : all.substr(std::min(end + 1, all.size())).substr(0, 256)) {
    if (!matcher.allows({&byte, 1})) break;
    matcher.push({&byte, 1});
  }
  return 0;
}
