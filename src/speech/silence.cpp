#include "speech/silence.h"

#include <algorithm>
#include <vector>

namespace tokamak {
namespace {

constexpr size_t kFrame = kSampleRate / 50;  // 20 ms
constexpr size_t kPause = 15;                // frames
constexpr double kQuiet = 1e-4;              // 40 dB less, as a power
constexpr size_t kMargin = 5;                // frames of a pause that stay with what is said
constexpr size_t kMinPiece = kSampleRate;    // shorter ones are not cut off
constexpr size_t kSearch = 5 * kSampleRate;  // before the end, for the quietest place

std::vector<double> powers_of(std::span<const float> sound) {
  std::vector<double> powers;
  for (size_t at = 0; at < sound.size(); at += kFrame) {
    const auto frame = sound.subspan(at, std::min(kFrame, sound.size() - at));
    double sum = 0;
    for (const float one : frame) sum += double(one) * one;
    powers.push_back(sum / double(frame.size()));
  }
  return powers;
}

}  // namespace

Piece PieceFinder::next(std::span<const float> sound, bool is_end) {
  const bool is_long = sound.size() >= max_samples_;
  const std::vector<double> powers = powers_of(sound.first(std::min(sound.size(), max_samples_)));
  for (const double one : powers) loudest_ = std::max(loudest_, one);
  const auto is_quiet = [&](double power) { return power <= loudest_ * kQuiet; };
  const auto first = size_t(std::ranges::find_if_not(powers, is_quiet) - powers.begin());
  const auto piece = [&](size_t begin, size_t end, size_t taken) {
    const size_t last = std::min(sound.size(), max_samples_);
    return Piece{std::min(begin * kFrame, last), std::min(end * kFrame, last),
                 std::min(taken * kFrame, last)};
  };
  // Nothing is said; a little of it stays, since it may be the beginning of a word.
  if (first == powers.size()) {
    const size_t done = is_end || powers.size() < kMargin ? powers.size() : powers.size() - kMargin;
    return piece(0, 0, is_end || done > kPause ? done : 0);
  }
  const size_t begin = first < kMargin ? 0 : first - kMargin;
  size_t quiet = 0;
  for (size_t i = first; i < powers.size(); ++i) {
    quiet = is_quiet(powers[i]) ? quiet + 1 : 0;
    const size_t end = i + 1 - quiet;
    if (quiet >= kPause && (end - begin) * kFrame >= kMinPiece) {
      return piece(begin, end + kMargin, end + kMargin);
    }
  }
  if (is_end && !is_long)
    return piece(begin, powers.size() - std::min(quiet, powers.size()) + std::min(quiet, kMargin),
                 powers.size());
  if (!is_long) return {};
  const auto from = powers.end() - ptrdiff_t(std::min(kSearch / kFrame, powers.size() - first));
  const auto quietest = size_t(std::min_element(from, powers.end()) - powers.begin());
  const size_t cut = std::max(quietest, begin + 1);
  return piece(begin, cut, cut);
}

}  // namespace tokamak
