#include "talk/play_queue.h"

#include <algorithm>

namespace tokamak {
namespace {

constexpr uint32_t kFadesInASecond = 200;  // 5 ms each

}  // namespace

void PlayQueue::take(std::span<float> out) {
  const size_t count = std::min(out.size(), samples_.size());
  const auto end = samples_.begin() + ptrdiff_t(count);
  std::copy(samples_.begin(), end, out.begin());
  std::ranges::fill(out.subspan(count), 0.0f);
  samples_.erase(samples_.begin(), end);
  const size_t faded = std::min(fading_, count);
  fading_ -= faded;
  played_ += count - faded;
}

void PlayQueue::stop() {
  const size_t fade = rate_ / kFadesInASecond;
  samples_.resize(std::min<size_t>(samples_.size(), fade));
  // One that fades already goes on from where it is.
  for (size_t i = fading_; i < samples_.size(); ++i) {
    samples_[i] *= 1 - float(i + 1) / float(fade + 1);
  }
  fading_ = samples_.size();
  played_ = 0;
}

}  // namespace tokamak
