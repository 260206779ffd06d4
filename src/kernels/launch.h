// The part that launch functions of the families share.
#pragma once
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "kernels/kernel.h"

namespace tokamak {

/// Lanes of kernels that compute one element each.
inline constexpr uint32_t kMapThreads = 128;

/// The power of two in [low, high] nearest below `wanted`.
constexpr uint32_t power_of_two(uint32_t wanted, uint32_t low, uint32_t high) {
  return std::clamp(std::bit_floor(std::max(wanted, 1u)), low, high);
}

/// How often 1 doubles until it is `lanes`, a power of two: the rounds of what neighbouring lanes
/// do by shuffles.
constexpr uint32_t doublings(uint32_t lanes) {
  return uint32_t(std::countr_zero(lanes));
}

/// Why kernels for a processor's cores refuse another device.
inline constexpr const char* kNotSoftware = "is tuned for software devices";

/// Why a kernel whose subgroups must have that many lanes refuses the device; "" if it does not.
inline std::string lacks_lanes(const DeviceInfo& device, uint32_t needed) {
  return device.subgroup_min >= needed
             ? ""
             : fmt::format("subgroups may have {} lanes, it needs {}", device.subgroup_min, needed);
}

/// Why a kernel whose workgroups have that many lanes refuses the device; "" if it does not.
inline std::string small_workgroups(const DeviceInfo& device, uint32_t needed) {
  return device.limits.workgroup_threads >= needed
             ? ""
             : fmt::format("a workgroup may have {} lanes, it needs {}",
                           device.limits.workgroup_threads, needed);
}

/// The features that kernels for matrix units need, and those whose lanes touch their elements of
/// fragments.
inline constexpr Features kMatrixFeatures =
    kFeatureF16 | kFeatureSubgroups | kFeatureSubgroupMatrix;
inline constexpr Features kFragmentFeatures = kMatrixFeatures | kFeatureMatrixElements;
/// The lanes of a subgroup that they need.
inline constexpr uint32_t kMatrixLanes = 32;

/// Why they refuse the device for its subgroups; "" if they do not.
inline std::string lacks_matrix_lanes(const DeviceInfo& device) {
  if (device.subgroup_min == kMatrixLanes && device.subgroup_max == kMatrixLanes) return "";
  return fmt::format("subgroups have {} to {} lanes, it needs {}", device.subgroup_min,
                     device.subgroup_max, kMatrixLanes);
}

/// The entry of a kernel, and what its lanes do together; see wgsl/reduce.wgsl.
inline std::vector<std::string> with_reduction(bool subgroups, std::vector<std::string> sources) {
  const std::string_view suffix = subgroups ? "_subgroup" : "";
  for (const std::string_view name : {"reduce", "entry"}) {
    sources.push_back(fmt::format("wgsl/{}{}.wgsl", name, suffix));
  }
  return sources;
}

}  // namespace tokamak
