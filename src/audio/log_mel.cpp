#include "audio/log_mel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace tokamak {
namespace {

constexpr double kLinearMels = 15, kLinearEnd = 1000;  // 3 mels for 200 Hz, up to there
const double kLogStep = std::log(6.4) / 27;            // and by this ratio for each mel above

double mel_of(double hertz) {
  if (hertz < kLinearEnd) return hertz * kLinearMels / kLinearEnd;
  return kLinearMels + std::log(hertz / kLinearEnd) / kLogStep;
}

double hertz_of(double mel) {
  if (mel < kLinearMels) return mel * kLinearEnd / kLinearMels;
  return kLinearEnd * std::exp((mel - kLinearMels) * kLogStep);
}

/// The factors of kWindow; the transform is made of some of each length.
constexpr size_t kFactors[] = {4, 4, 5, 5}, kMaxFactor = 5;

/// The index of a sample beyond an end, mirrored at it.
size_t mirrored(ptrdiff_t i, size_t count) {
  if (i < 0) return size_t(-i);
  return size_t(i) < count ? size_t(i) : 2 * (count - 1) - size_t(i);
}

}  // namespace

LogMel::Complex LogMel::product(Complex a, Complex b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

LogMel::LogMel(uint32_t bins) {
  const double top = mel_of(kSampleRate / 2);
  const auto edge = [&](uint32_t i) { return hertz_of(top * i / (bins + 1)); };
  for (uint32_t bin = 0; bin < bins; ++bin) {
    const double low = edge(bin), middle = edge(bin + 1), high = edge(bin + 2);
    Band band;
    for (uint32_t i = 0; i < kFrequencies; ++i) {
      const double hertz = double(i) * kSampleRate / kWindow;
      const double up = (hertz - low) / (middle - low), down = (high - hertz) / (high - middle);
      const double height = std::min(up, down);
      if (height <= 0) continue;
      if (band.weights.empty()) band.first = i;
      band.weights.push_back(height * 2 / (high - low));  // each triangle has the same area
    }
    bands_.push_back(std::move(band));
  }
  constexpr double kTurn = 2 * std::numbers::pi / kWindow;
  for (uint32_t i = 0; i < kWindow; ++i) {
    window_.push_back(0.5 - 0.5 * std::cos(kTurn * i));
    turns_.push_back({std::cos(kTurn * i), -std::sin(kTurn * i)});
  }
}

float LogMel::weight(uint32_t frequency, uint32_t bin) const {
  const Band& band = bands_[bin];
  const size_t i = size_t{frequency} - band.first;
  return frequency < band.first || i >= band.weights.size() ? 0 : float(band.weights[i]);
}

void LogMel::transform(const Complex* in, Complex* out, size_t stage, size_t stride) const {
  if (stage == std::size(kFactors)) {
    out[0] = in[0];
    return;
  }
  const size_t factor = kFactors[stage], part = kWindow / stride / factor;
  for (size_t r = 0; r < factor; ++r) {
    transform(in + r * stride, out + r * part, stage + 1, stride * factor);
  }
  Complex turned[kMaxFactor];
  for (size_t k = 0; k < part; ++k) {
    for (size_t r = 0; r < factor; ++r) {
      turned[r] = product(out[r * part + k], turns_[r * k * stride]);
    }
    for (size_t q = 0; q < factor; ++q) {
      Complex sum = turned[0];
      for (size_t r = 1; r < factor; ++r) {
        const Complex one = product(turned[r], turns_[q * r * (kWindow / factor) % kWindow]);
        sum = {sum.real + one.real, sum.imaginary + one.imaginary};
      }
      out[q * part + k] = sum;
    }
  }
}

void LogMel::find_powers(std::span<const Complex> frames, std::span<double> first,
                         std::span<double> second) const {
  Complex sums[kWindow];
  transform(frames.data(), sums, 0, 1);
  // The transform of real numbers at -k is the conjugate of that at k: both frames come apart.
  for (size_t k = 0; k < kFrequencies; ++k) {
    const Complex a = sums[k], b = sums[(kWindow - k) % kWindow];
    const auto power = [](double real, double imaginary) {
      return (real * real + imaginary * imaginary) / 4;
    };
    first[k] = power(a.real + b.real, a.imaginary - b.imaginary);
    second[k] = power(a.imaginary + b.imaginary, b.real - a.real);
  }
}

std::vector<float> LogMel::of(std::span<const float> samples) const {
  TOK_CHECK(samples.size() > kWindow / 2);
  constexpr double kSmallest = 1e-10;
  const size_t frames = samples.size() / kHop, bins = bands_.size();
  std::vector<double> logs(frames * bins);
  Complex both[kWindow];
  double powers[2][kFrequencies];
  const auto sample = [&](size_t t, size_t i) {
    const ptrdiff_t at = ptrdiff_t(t * kHop + i) - ptrdiff_t{kWindow / 2};
    return t < frames ? samples[mirrored(at, samples.size())] * window_[i] : 0;
  };
  for (size_t t = 0; t < frames; ++t) {
    if (t % 2 == 0) {
      for (size_t i = 0; i < kWindow; ++i) both[i] = {sample(t, i), sample(t + 1, i)};
      find_powers(both, powers[0], powers[1]);
    }
    for (size_t bin = 0; bin < bins; ++bin) {
      const Band& band = bands_[bin];
      double sum = 0;
      for (size_t i = 0; i < band.weights.size(); ++i) {
        sum += band.weights[i] * powers[t % 2][band.first + i];
      }
      logs[t * bins + bin] = std::log10(std::max(sum, kSmallest));
    }
  }
  const double largest = logs.empty() ? 0 : *std::ranges::max_element(logs);
  std::vector<float> out(logs.size());
  std::ranges::transform(logs, out.begin(), [largest](double one) {
    return float((std::max(one, largest - 8) + 4) / 4);
  });
  return out;
}

}  // namespace tokamak
