// A call of a function, as clients get it.
#pragma once
#include <string>

namespace tokamak::protocol {

struct ToolCall {
  std::string name;
  std::string arguments;  // a JSON object
  bool operator==(const ToolCall&) const = default;
};

}  // namespace tokamak::protocol
