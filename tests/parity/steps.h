// The part that cases of several files share: steps, types, tolerances.
#pragma once
#include <string>
#include <vector>

#include "base/packing.h"
#include "case.h"
#include "graph/kv_cache.h"

namespace tokamak::parity {

// Tolerances, of the largest magnitude in a result, at least 1.
//
// Products, norms: both sides see the same stored weights and sum in f32 or f64; what differs is
// the rounding of sums of up to 4640 terms.
inline constexpr double kSum = 2e-6;
// Copies and one rounding.
inline constexpr double kExact = 2e-7;
// exp and tanh of a device are good to some units of 2^-22 for arguments of this size.
inline constexpr double kFunction = 4e-6;
// Scores pass through exp; a difference of 1e-6 in a score of 10 is one of 1e-5 in a weight.
inline constexpr double kAttention = 2e-5;
// A device may round to the other neighbour when it packs an f16: one unit of 2^-11, averaged over
// the keys.
inline constexpr double kAttentionF16 = 2e-3;
// The tolerance for a device that rounds to the other neighbour, which is seldom: an element of a
// cache in q8 is wrong by a step, a 127th of its head's largest.
inline constexpr double kAttentionQ8 = 1.0 / 127;
inline double attention_tolerance(DType cache) {
  return cache == DType::kF32 ? kAttention : cache == DType::kF16 ? kAttentionF16 : kAttentionQ8;
}
inline constexpr DType kWeights[] = {DType::kF32, DType::kF16, DType::kBF16};

/// The packed types that no other is like but for its name and the size of its groups.
inline std::vector<DType> packed_types() {
  std::vector<DType> all;
  for (size_t i = 0; i < weight_formats().size(); ++i) {
    WeightFormat wanted = weight_formats()[i];
    bool is_first = packed_dtype(wanted) == packed_type(i);
    for (const uint16_t smaller : {uint16_t{32}, uint16_t{64}}) {
      if (smaller >= wanted.group) break;
      WeightFormat other = wanted;
      other.group = smaller;
      is_first = is_first && !packed_dtype(other);
    }
    if (is_first) all.push_back(packed_type(i));
  }
  return all;
}

// Alone, a few, an odd number, whole tiles and beyond.
inline const Steps kOneByOne = {1, {1, 1, 1}};
inline const Steps kSmallBatchSteps = {8, {2, 3, 8, 1, 5}};
inline const Steps kFewSteps = {4, {2, 3, 4, 1}};
inline const Steps kChunks = {130, {1, 3, 17, 64, 65, 130, 2}};

/// [kVocab, columns]: heads whose elements in q8 are multiples of half a step, and their step 1 (of
/// 2^-110, which counts as 0; or they are zeros). What a cache makes of them is exact.
inline std::vector<float> half_steps(uint32_t columns, uint32_t head_dim) {
  std::vector<float> values(size_t{kVocab} * columns);
  for (uint32_t row = 0; row < kVocab; ++row) {
    const float unit = row % 5 == 0 ? 0.0f : row % 5 == 1 ? 0x1p-110f : 1.0f;
    for (uint32_t i = 0; i < columns; ++i) {
      const float half = float((row * 31 + i * 17) % 509) * 0.5f - 127;
      values[size_t{row} * columns + i] = unit * (i % head_dim == row % head_dim ? -127 : half);
    }
  }
  return values;
}

inline std::string label(const Steps& steps) {
  if (steps.max_tokens == kSmallBatchSteps.max_tokens) return "a few at once";
  if (steps.max_tokens == kFewSteps.max_tokens) return "up to four at once";
  return steps.max_tokens == 1 ? "one by one" : "in chunks";
}

}  // namespace tokamak::parity
