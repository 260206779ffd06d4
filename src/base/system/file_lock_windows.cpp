#include <windows.h>

#include "base/system/file_lock.h"
#include "base/system/text_windows.h"

namespace tokamak {

Result<bool> try_lock(const File& file) {
  // A byte that no file has: the lock is on the file, and not on what it holds.
  OVERLAPPED place = {};
  place.Offset = place.OffsetHigh = 0x7FFF'FFFF;
  constexpr DWORD kAtOnce = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
  if (::LockFileEx(reinterpret_cast<HANDLE>(file.handle()), kAtOnce, 0, 1, 0, &place)) return true;
  if (::GetLastError() == ERROR_LOCK_VIOLATION) return false;
  return last_reason();
}

}  // namespace tokamak
