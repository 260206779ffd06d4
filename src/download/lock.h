// One process at a time pulls a repository or removes it. The system lets go of the lock when the
// process ends, however it ends.
#pragma once
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/system/file.h"

namespace tokamak::download {

class Lock {
 public:
  /// Waits until the lock on the file `path` is free; `waiting` is called again and again while
  /// another process has it, and returns false to give up (kCancelled). The folder of the file is
  /// made. The file may be removed by who holds the lock: others then lock the next one.
  static Result<Lock> take(const std::string& path, const std::function<bool()>& waiting);
  /// The lock of a repository ("org/name") in the folder `cache`.
  static Result<Lock> take_repo(const std::string& cache, const std::string& repo,
                                const std::function<bool()>& waiting);

 private:
  explicit Lock(File file) : file_(std::move(file)) {}

  File file_;
};

}  // namespace tokamak::download
