// The factors of runs of weights that are rounded to few numbers: those with the least sum of
// squared errors, each counted by a weight of its own, among many candidates.
#pragma once
#include <span>

namespace tokamak {

/// Neighbours that share a factor, and how much a squared error of each counts.
struct Run {
  std::span<const float> values, weights;
};

/// The whole numbers that values are rounded to.
struct LevelRange {
  float lowest = 0, highest = 0;
};

/// value ≈ scale * q - offset
struct Factors {
  float scale = 0, offset = 0;
};

/// The nearest whole number, ties to even. REQUIRES: |value| < 2^22.
inline float rounded(float value) {
  return (value + 0x1.8p23f) - 0x1.8p23f;
}

/// 0 where there is no finite inverse: such scales are beyond the f16 of files as well.
float inverse_of(float scale);

/// The number that stands for `value` where those of a run have these factors.
float nearest_level(float value, const Factors& factors, const LevelRange& levels);

/// The sum of weighted squared errors of a run.
double error_of(const Run& run, const Factors& factors, const LevelRange& levels);

/// The sum of weights * q^2: how much an error of the scale counts.
float weight_of_scale(const Run& run, const Factors& factors, const LevelRange& levels);

/// A scale without an offset; 0 where nothing has a weight. It may be negative.
float find_scale(const Run& run, const LevelRange& levels);

/// A scale and an offset, neither negative, for numbers from 0 to `highest`.
Factors find_factors(const Run& run, float highest);

}  // namespace tokamak
