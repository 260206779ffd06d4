// What the entry points share: whether the device still works.
#pragma once
#include <functional>

#include "backend/cuda/api.h"
#include "fibers.h"

namespace emulator {

using tokamak::cuda::Status;

inline constexpr Status kOk = Status::kSuccess;
inline constexpr Status kInvalidValue = Status(1);
inline constexpr Status kLaunchFailed = Status(719);

/// What the environment asks for, and what has become of it.
struct Fault {
  uint64_t launch = 0;  // which one fails; 0: none
  Status status = kOk;
  uint64_t launches = 0;
  bool has_failed = false;
};

Fault& fault();
/// As TOKAMAK_EMULATED_FAULT says now, unless the device has failed already.
void read_fault();

/// As TOKAMAK_EMULATED_ORDER says.
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
