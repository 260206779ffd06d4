// The environment in UTF-16, as Windows has it.
#include <cstdlib>

#include "base/environment.h"
#include "base/system/text_windows.h"

namespace tokamak {

std::optional<std::string> given_variable(const char* name) {
  const wchar_t* value = ::_wgetenv(wide_text(name).c_str());
  if (value == nullptr) return std::nullopt;
  return narrow_text(value);
}

std::string environment_variable(const char* name) {
  return given_variable(name).value_or("");
}

}  // namespace tokamak
