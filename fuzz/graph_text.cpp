// A graph text that parses must verify, print, and parse again to the same text.
#include <cstdlib>

#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto graph = tokamak::parse_graph({reinterpret_cast<const char*>(data), size});
  if (!graph) return 0;
  const std::string text = tokamak::to_text(*graph);
  auto again = tokamak::parse_graph(text);
  if (!again || tokamak::to_text(*again) != text) std::abort();
  return 0;
}
