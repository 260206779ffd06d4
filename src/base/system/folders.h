// The folders that this program is in, and those where it keeps what it has. Native builds only.
#pragma once
#include <string>
#include <string_view>

namespace tokamak {

/// The folder of the running executable, or "" when it is not known.
std::string executable_folder();

/// The folder of the shared library that this code is part of; "" when it is part of the program.
std::string library_folder();

/// A folder of this program's cache for `purpose`: below TOKAMAK_CACHE_DIR, else XDG_CACHE_HOME,
/// else where the system's programs have theirs, as ~/.cache; "" when none of them is known. It may
/// not exist yet.
std::string cache_folder(std::string_view purpose);

/// This program's folder for what its user wants to keep: below XDG_DATA_HOME, else where the
/// system's programs have theirs, as ~/.local/share; "" when neither is known. It may not exist
/// yet.
std::string data_folder();

/// This program's folders where the system's programs have theirs, for the two above; "" when they
/// are not known.
std::string usual_cache_folder();
std::string usual_data_folder();

}  // namespace tokamak
