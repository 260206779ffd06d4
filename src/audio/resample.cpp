#include "audio/resample.h"

#include <soxr.h>

#include "base/check.h"

namespace tokamak {

void Resampler::Delete::operator()(soxr* own) const {
  soxr_delete(own);
}

Result<Resampler> Resampler::open(const SoundFormat& format, uint32_t to) {
  TOK_TRY(check_format(format));
  std::unique_ptr<soxr, Delete> own;
  if (format.rate != to) {
    const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
    soxr_error_t error = nullptr;
    own.reset(soxr_create(format.rate, to, 1, &error, &io, &quality, &runtime));
    if (error != nullptr || !own) {
      return fail(ErrorCode::kOutOfMemory, "Out of memory while resampling the sound.");
    }
  }
  return Resampler(format, std::move(own));
}

Result<void> Resampler::add(std::span<const float> frames, Samples& out) {
  TOK_CHECK(frames.size() % format_.channels == 0);
  TOK_TRY(check_samples(frames, taken_));
  taken_ += frames.size();
  mono_.clear();
  for (size_t at = 0; at < frames.size(); at += format_.channels) {
    double sum = 0;
    for (const float one : frames.subspan(at, format_.channels)) sum += one;
    mono_.push_back(float(sum / format_.channels));
  }
  if (soxr_) return process(mono_.data(), mono_.size(), out);
  out.insert(out.end(), mono_.begin(), mono_.end());
  return {};
}

Result<void> Resampler::finish(Samples& out) {
  return soxr_ ? process(nullptr, 0, out) : Result<void>();
}

Result<void> Resampler::process(const float* samples, size_t count, Samples& out) {
  constexpr size_t kRoom = 4096;
  for (;;) {
    const size_t size = out.size();
    out.resize(size + kRoom);
    size_t taken = 0, made = 0;
    const soxr_error_t error =
        soxr_process(soxr_.get(), samples, count, &taken, out.data() + size, kRoom, &made);
    out.resize(size + made);
    if (error != nullptr) {
      return fail(ErrorCode::kOutOfMemory, "The sound cannot be resampled: {}.", error);
    }
    if (samples != nullptr) {
      samples += taken;
      count -= taken;
    }
    if (made < kRoom && count == 0) return {};
  }
}

}  // namespace tokamak
