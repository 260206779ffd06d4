#include "protocol/openai/call_shapes.h"

#include "protocol/chat/content_parts.h"

namespace tokamak::protocol {

CallShape call_shape(const Json& shapes, const std::string& name) {
  CallShape out{.name = name};
  const Json* found = shapes.find(name);
  if (found == nullptr) return out;
  out.is_custom = type_of(*found) == "custom";
  if (const std::string* own = text_in(*found, "name")) out.name = *own;
  if (const std::string* outer = text_in(*found, "namespace")) out.outer = *outer;
  return out;
}

std::string custom_input(const std::string& arguments) {
  const auto parsed = Json::parse(arguments);
  const std::string* input = parsed ? text_in(*parsed, "input") : nullptr;
  return input == nullptr ? arguments : *input;
}

}  // namespace tokamak::protocol
