#include "quantize/scale_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tokamak {
namespace {

// Sums are taken in lanes, so that a processor takes several steps of them at once.
constexpr size_t kLanes = 8;
using Lanes = float[kLanes];

double sum_of(const Lanes& lanes) {
  double sum = 0;
  for (const float lane : lanes) sum += double(lane);
  return sum;
}

/// Candidates are this many tenths of a number above and below the one that gives the largest
/// value the outermost level.
constexpr int kTenths = 10;
/// How often a candidate's numbers are rounded anew by the scale that is best for them.
constexpr int kRefinements = 3;

float clamped(float value, const LevelRange& levels) {
  value = value < levels.lowest ? levels.lowest : value;
  return value > levels.highest ? levels.highest : value;
}

/// A scale, and how much less the error is with it than without any.
struct ScaleFit {
  float scale = 0;
  double gain = 0;
};

ScaleFit fit_scale(const Run& run, const LevelRange& levels, float inverse) {
  const size_t count = run.values.size();
  Lanes xq{}, qq{};
  const auto add = [&](size_t i, size_t lane) {
    const float x = run.values[i], q = rounded(clamped(x * inverse, levels));
    const float wq = run.weights[i] * q;
    xq[lane] += wq * x;
    qq[lane] += wq * q;
  };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (; i < count; ++i) add(i, 0);
  const double product = sum_of(xq), squares = sum_of(qq);
  if (!(squares > 0)) return {};
  return {float(product / squares), product * product / squares};
}

/// The sums over a run that do not depend on its numbers.
struct Moments {
  double w = 0, wx = 0, wxx = 0;
};

Moments moments_of(const Run& run) {
  Moments out;
  for (size_t i = 0; i < run.values.size(); ++i) {
    const double w = double(run.weights[i]), x = double(run.values[i]);
    out.w += w;
    out.wx += w * x;
    out.wxx += w * x * x;
  }
  return out;
}

struct FactorsFit {
  Factors factors;
  double error = 0;
};

/// The best factors for the numbers that `from` gives.
FactorsFit fit_factors(const Run& run, const Moments& all, float highest, const Factors& from) {
  const float inverse = inverse_of(from.scale);
  const LevelRange levels{0, highest};
  Lanes q1{}, qq{}, xq{};
  const auto add = [&](size_t i, size_t lane) {
    const float x = run.values[i];
    const float q = rounded(clamped((x + from.offset) * inverse, levels));
    const float wq = run.weights[i] * q;
    q1[lane] += wq;
    qq[lane] += wq * q;
    xq[lane] += wq * x;
  };
  size_t i = 0;
  for (; i + kLanes <= run.values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (; i < run.values.size(); ++i) add(i, 0);
  const double wq = sum_of(q1), wqq = sum_of(qq), wxq = sum_of(xq);
  const double determinant = all.w * wqq - wq * wq;
  double scale = 0, base = 0;
  if (determinant > 0) {
    scale = (all.w * wxq - all.wx * wq) / determinant;
    base = (wqq * all.wx - wq * wxq) / determinant;
  }
  if (base > 0 || determinant <= 0) {
    base = 0;
    scale = wqq > 0 ? wxq / wqq : 0;
  }
  scale = std::max(scale, 0.0);
  const Factors factors{float(scale), float(-base)};
  return {factors, error_of(run, factors, levels)};
}

}  // namespace

float inverse_of(float scale) {
  return std::abs(scale) < std::numeric_limits<float>::min() ? 0 : 1 / scale;
}

float nearest_level(float value, const Factors& factors, const LevelRange& levels) {
  return rounded(clamped((value + factors.offset) * inverse_of(factors.scale), levels));
}

double error_of(const Run& run, const Factors& factors, const LevelRange& levels) {
  const float inverse = inverse_of(factors.scale);
  Lanes sum{};
  const auto add = [&](size_t i, size_t lane) {
    const float x = run.values[i] + factors.offset;
    const float off = x - factors.scale * rounded(clamped(x * inverse, levels));
    sum[lane] += run.weights[i] * off * off;
  };
  size_t i = 0;
  for (; i + kLanes <= run.values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (; i < run.values.size(); ++i) add(i, 0);
  return sum_of(sum);
}

float weight_of_scale(const Run& run, const Factors& factors, const LevelRange& levels) {
  float sum = 0;
  for (size_t i = 0; i < run.values.size(); ++i) {
    const float q = nearest_level(run.values[i], factors, levels);
    sum += run.weights[i] * q * q;
  }
  return sum;
}

float find_scale(const Run& run, const LevelRange& levels) {
  float extreme = 0;
  for (const float x : run.values) {
    if (std::abs(x) > std::abs(extreme)) extreme = x;
  }
  if (extreme == 0) return 0;
  ScaleFit best;
  const auto take = [&](float level) {
    const ScaleFit fit = fit_scale(run, levels, level / extreme);
    if (fit.gain > best.gain) best = fit;
  };
  for (int tenths = -kTenths; tenths <= kTenths; ++tenths) {
    const float more = float(tenths) / kTenths;
    if (levels.lowest < 0) take(levels.lowest - more);
    take(levels.highest + more);
  }
  for (int i = 0; i < kRefinements && best.scale != 0; ++i) {
    const ScaleFit fit = fit_scale(run, levels, 1 / best.scale);
    if (fit.gain <= best.gain) break;
    best = fit;
  }
  return best.scale;
}

Factors find_factors(const Run& run, float highest) {
  const auto [least, most] = std::ranges::minmax(run.values);
  const float offset = std::max(-least, 0.0f), range = most + offset;
  if (!(range > 0)) return {0, offset};  // all are zeros, or one negative number
  const Moments moments = moments_of(run);
  const LevelRange levels{0, highest};
  FactorsFit best{{range / highest, offset}, 0};
  best.error = error_of(run, best.factors, levels);
  for (int tenths = -kTenths; tenths <= kTenths; ++tenths) {
    Factors from{range / (highest + float(tenths) / kTenths), offset};
    for (int i = 0; i < kRefinements; ++i) {
      const FactorsFit fit = fit_factors(run, moments, highest, from);
      if (fit.error >= best.error) break;
      best = fit;
      from = fit.factors;
    }
  }
  return best.factors;
}

}  // namespace tokamak
