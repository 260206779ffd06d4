// The file that a store is in, before SQLite opens it. CMake chooses the source: files of this
// machine, or those of the browser, where SQLite makes what is missing.
#pragma once
#include <string>

#include "base/result.h"

namespace tokamak::memory {

/// Errors: there is none.
Result<void> check_store_file(const std::string& path);
/// One that only this user reads, with its folder, where there is none.
Result<void> make_store_file(const std::string& path);

}  // namespace tokamak::memory
