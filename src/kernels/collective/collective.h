// Kernels in which ranks work together; see graph/collective_ops.h.
#pragma once
#include <span>

#include "base/bits.h"
#include "kernels/kernel.h"

namespace tokamak {

/// Most workgroups of such a kernel: each meets those of the same number on other ranks.
inline constexpr uint32_t kMaxMeetingGroups = 256;
/// Words of a rank's arrivals, whose order collective/meet.wgsl has; after them is room for
/// the values of other ranks, 16 bytes at a time.
inline constexpr uint32_t kArrivalWords = round_up(1 + (1 + kMaxRanks) * kMaxMeetingGroups, 4u);
/// Words of a rank's meeting, of that number of ranks.
uint32_t meeting_words(uint32_t ranks);
/// The number of a rank that is alone.
inline constexpr uint32_t kNoRank = ~0u;

std::span<const KernelVariant> collective_variants();

}  // namespace tokamak
