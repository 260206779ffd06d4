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

/// The index of a sample beyond an end, mirrored at it.
size_t mirrored(ptrdiff_t i, size_t count) {
  if (i < 0) return size_t(-i);
  return size_t(i) < count ? size_t(i) : 2 * (count - 1) - size_t(i);
}

}  // namespace

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
  for (uint32_t i = 0; i < kWindow; ++i) window_.push_back(0.5 - 0.5 * std::cos(kTurn * i));
  for (uint32_t k = 0; k < kFrequencies; ++k) {
    for (uint32_t i = 1; i <= kWindow / 2; ++i) {
      const uint32_t angle = k * i % kWindow;
      cosines_.push_back(std::cos(kTurn * angle));
      sines_.push_back(std::sin(kTurn * angle));
    }
  }
}

float LogMel::weight(uint32_t frequency, uint32_t bin) const {
  const Band& band = bands_[bin];
  const size_t i = size_t{frequency} - band.first;
  return frequency < band.first || i >= band.weights.size() ? 0 : float(band.weights[i]);
}

void LogMel::find_powers(std::span<const double> frame, std::span<double> powers) const {
  // Samples at equal distances from the first, around the end, share their cosine, and their sine
  // but for its sign: half of the products.
  constexpr size_t kHalf = kWindow / 2;
  double sums[kHalf], differences[kHalf];
  for (size_t i = 1; i < kHalf; ++i) {
    sums[i - 1] = frame[i] + frame[kWindow - i];
    differences[i - 1] = frame[i] - frame[kWindow - i];
  }
  sums[kHalf - 1] = frame[kHalf];
  differences[kHalf - 1] = 0;
  for (size_t k = 0; k < kFrequencies; ++k) {
    const double* const cosines = cosines_.data() + k * kHalf;
    const double* const sines = sines_.data() + k * kHalf;
    double real = frame[0], imaginary = 0;
    for (size_t i = 0; i < kHalf; ++i) {
      real += sums[i] * cosines[i];
      imaginary += differences[i] * sines[i];
    }
    powers[k] = real * real + imaginary * imaginary;
  }
}

std::vector<float> LogMel::of(std::span<const float> samples) const {
  TOK_CHECK(samples.size() > kWindow / 2);
  constexpr double kSmallest = 1e-10;
  const size_t frames = samples.size() / kHop, bins = bands_.size();
  std::vector<double> logs(frames * bins);
  double frame[kWindow], powers[kFrequencies];
  for (size_t t = 0; t < frames; ++t) {
    for (size_t i = 0; i < kWindow; ++i) {
      const ptrdiff_t at = ptrdiff_t(t * kHop + i) - ptrdiff_t{kWindow / 2};
      frame[i] = samples[mirrored(at, samples.size())] * window_[i];
    }
    find_powers(frame, powers);
    for (size_t bin = 0; bin < bins; ++bin) {
      const Band& band = bands_[bin];
      double sum = 0;
      for (size_t i = 0; i < band.weights.size(); ++i) {
        sum += band.weights[i] * powers[band.first + i];
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
