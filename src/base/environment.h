// The environment of this program: the only place that reads its variables. Native builds only.
#pragma once
#include <optional>
#include <string>

namespace tokamak {

/// The value of an environment variable; "" when it is not set.
std::string environment_variable(const char* name);

/// The same where "" and not being set mean different things.
std::optional<std::string> given_variable(const char* name);

}  // namespace tokamak
