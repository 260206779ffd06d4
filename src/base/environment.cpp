#include "base/environment.h"

#include <cstdlib>

namespace tokamak {

std::optional<std::string> given_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string environment_variable(const char* name) {
  return given_variable(name).value_or("");
}

}  // namespace tokamak
