// A flag that is set as long as something goes on.
#pragma once

namespace tokamak {

class ScopedFlag {
 public:
  /// REQUIRES: `flag` outlives this.
  explicit ScopedFlag(bool& flag) : flag_(flag) { flag_ = true; }
  ScopedFlag(const ScopedFlag&) = delete;
  ScopedFlag& operator=(const ScopedFlag&) = delete;
  ~ScopedFlag() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace tokamak
