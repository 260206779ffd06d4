// A plan text that parses must print and parse again to the same plan.
#include <cstdlib>

#include "plan/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto plan = tokamak::parse_plan({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  const std::string text = tokamak::to_text(*plan);
  auto again = tokamak::parse_plan(text);
  if (!again || tokamak::to_text(*again) != text) std::abort();
  return 0;
}
