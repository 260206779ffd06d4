// The environment of this program: the only place that reads its variables. Native builds only.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tokamak {

/// The value of an environment variable; "" when it is not set.
std::string environment_variable(const char* name);

/// The same where "" and not being set mean different things.
std::optional<std::string> given_variable(const char* name);

/// The folder of the running executable, or "" when the system does not tell.
std::string executable_folder();

/// The folder of the shared library that this code is part of; "" when it is part of the program.
std::string library_folder();

/// A folder of this program's cache for `purpose`: below TOKAMAK_CACHE_DIR, else XDG_CACHE_HOME,
/// else ~/.cache; "" when none of them is set. It may not exist yet.
std::string cache_folder(std::string_view purpose);

/// This program's folder for what its user wants to keep: below XDG_DATA_HOME, else ~/.local/share;
/// "" when neither is known. It may not exist yet.
std::string data_folder();

}  // namespace tokamak
