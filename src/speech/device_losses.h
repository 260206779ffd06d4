// For what runs one sequence on a program: a device may be lost at any time, and callers notice
// nothing but the time that it takes to bring the sequence back.
#pragma once
#include <functional>

#include "backend/backend.h"

namespace tokamak {

class DeviceLosses {
 public:
  /// Makes the attempt again, after `bring_back`, as often as the device is lost meanwhile and can
  /// be had again. Errors: those of both; given_up().
  Result<void> outlive(Program& program, const std::function<Result<void>()>& bring_back,
                       const std::function<Result<void>()>& attempt);

 private:
  bool is_lost_ = false;  // nothing of the sequence is on the device
};

}  // namespace tokamak
