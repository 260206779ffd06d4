#include "serve/admission.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

namespace tokamak::serve {

struct Admission::Counts {
  static constexpr double kWeight = 0.1, kMaxSeconds = 120;

  uint32_t at_once, most_waiting;
  mutable std::mutex mutex;
  uint32_t in_flight = 0;
  double mean_seconds = 1;  // that a request takes, of the last ones

  uint64_t most() const { return uint64_t{at_once} + most_waiting; }

  /// REQUIRES: the mutex.
  std::optional<uint32_t> wait_for(uint32_t more) const {
    if (uint64_t{in_flight} + more <= most()) return std::nullopt;
    // One of those that run ends every mean / at_once seconds; the whole queue is not waited for,
    // as others who ask again take the same places.
    const uint32_t waiting = in_flight - std::min(in_flight, at_once);
    const double seconds = mean_seconds * double(waiting + more) / double(at_once) / 2;
    return uint32_t(std::clamp(std::ceil(seconds), 1.0, kMaxSeconds));
  }
};

Admission::Place::Place(std::shared_ptr<Counts> counts) : counts_(std::move(counts)) {
  const std::scoped_lock lock(counts_->mutex);
  counts_->in_flight += sequences_;
}

Admission::Place::~Place() {
  const std::scoped_lock lock(counts_->mutex);
  counts_->in_flight -= sequences_;
}

std::optional<uint32_t> Admission::Place::widen(uint32_t sequences) {
  const std::scoped_lock lock(counts_->mutex);
  const uint32_t more = sequences - std::min(sequences, sequences_);
  if (const auto seconds = counts_->wait_for(more); seconds && more > 0) return seconds;
  counts_->in_flight += more;
  sequences_ += more;
  return std::nullopt;
}

void Admission::Place::end(double seconds) {
  const std::scoped_lock lock(counts_->mutex);
  counts_->in_flight -= std::exchange(sequences_, 0);
  counts_->mean_seconds += Counts::kWeight * (seconds - counts_->mean_seconds);
}

Admission::Admission(uint32_t at_once, uint32_t most_waiting)
    : counts_(std::make_shared<Counts>(std::max(at_once, 1u), most_waiting)) {}

std::optional<uint32_t> Admission::wait_seconds() const {
  const std::scoped_lock lock(counts_->mutex);
  return counts_->wait_for(1);
}

uint32_t Admission::in_flight() const {
  const std::scoped_lock lock(counts_->mutex);
  return counts_->in_flight;
}

protocol::Answer<void> Admission::Place::admit(uint32_t sequences, std::string_view whose) {
  const auto seconds = widen(sequences);
  if (!seconds) return {};
  const uint64_t most = counts_->most();
  const bool fits_never = sequences > most;
  return protocol::Refusal(protocol::ApiError{
      .status = 429,
      .message = fmt::format("The request is {} answers{}, but {} {} at once; {}.", sequences,
                             fits_never ? "" : " beside those in flight", whose, most,
                             fits_never ? "ask for fewer" : "retry later"),
      .param = {},
      .code = "rate_limit_exceeded",
      .retry_seconds = fits_never ? 0 : *seconds});
}

}  // namespace tokamak::serve
