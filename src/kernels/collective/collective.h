// Kernels in which ranks work together; see graph/collective_ops.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// Most workgroups of such a kernel: each meets those of the same number on other ranks.
inline constexpr uint32_t kMaxMeetingGroups = 256;
/// Words of a rank's meeting: collective/meet.wgsl has their order.
inline constexpr uint32_t kMeetingWords = 1 + (1 + kMaxRanks) * kMaxMeetingGroups;
/// The number of a rank that is alone.
inline constexpr uint32_t kNoRank = ~0u;

std::span<const KernelVariant> collective_variants();

}  // namespace tokamak
