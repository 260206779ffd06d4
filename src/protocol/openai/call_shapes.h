// Calls of functions that the client knows as something else: custom tools, whose input is a text,
// and tools of a namespace (Fields::call_shapes).
#pragma once
#include <string>

#include "base/json.h"

namespace tokamak::protocol {

struct CallShape {
  bool is_custom = false;
  std::string name, outer;  // the client's, and its namespace or ""
};

/// The shape of a call of the function that the model calls `name`.
CallShape call_shape(const Json& shapes, const std::string& name);

/// The text that a custom tool gets from the arguments of its function; those themselves where a
/// cut has left no JSON.
std::string custom_input(const std::string& arguments);

}  // namespace tokamak::protocol
