// The state that the entry points share: whether the device still works.
#pragma once
#include <functional>

#include "backend/cuda/api.h"
#include "fibers.h"

namespace emulator {

using tokamak::cuda::Status;

inline constexpr Status kOk = Status::kSuccess;
inline constexpr Status kInvalidValue = Status(1);
inline constexpr Status kLaunchFailed = Status(719);

/// The fault that the environment demands, and how far it has come.
struct Fault {
  uint64_t launch = 0;  // which one fails; 0: none
  Status status = kOk;
  uint64_t launches = 0;
  bool has_failed = false;
};

Fault& fault();
/// Reads TOKAMAK_EMULATED_FAULT as it is now, unless the device has failed already.
void read_fault();

/// The order by TOKAMAK_EMULATED_ORDER.
Order order();

/// A hash of what kernels are compiled with. A module of another version, which a program may have
/// kept, is refused.
uint64_t version();

/// Keeps what is put onto a stream that is being recorded; false: it is not.
bool record(std::function<Status()> call);

/// Errors of launches stay until the context is reset.
inline Status now() {
  return fault().has_failed ? fault().status : kOk;
}

}  // namespace emulator
