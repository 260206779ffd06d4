// Locks that one process has at a time. Native builds only.
#pragma once
#include "base/system/file.h"

namespace tokamak {

/// Takes the lock on an open file, for as long as the file is open or this process lives. False
/// where another File has it, of whatever process. Errors as File's.
Result<bool> try_lock(const File& file);

}  // namespace tokamak
