// The memory that the lanes of a workgroup share.
#pragma once
#include <string>

#include "kernels/kernel.h"

namespace tokamak {

/// Why a kernel that takes that much of it is refused; "" if it is not.
inline std::string refuse_workgroup_bytes(uint64_t bytes, const DeviceInfo& device) {
  if (bytes <= device.limits.workgroup_bytes) return "";
  return fmt::format("needs {} bytes of workgroup memory, there are {}", bytes,
                     device.limits.workgroup_bytes);
}

}  // namespace tokamak
