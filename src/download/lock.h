// One pull of a repository at a time, among all processes. The system lets go of the lock when the
// process ends, however it ends.
#pragma once
#include <functional>
#include <string>

#include "base/result.h"

namespace tokamak::download {

class Lock {
 public:
  /// Waits until the lock on the file `path` is free; `waiting` is called again and again while
  /// another process has it, and returns false to give up (kCancelled).
  static Result<Lock> take(const std::string& path, const std::function<bool()>& waiting);

  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&&) = delete;
  ~Lock();

 private:
  explicit Lock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace tokamak::download
