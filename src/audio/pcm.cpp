#include "audio/pcm.h"

#include <algorithm>
#include <bit>

namespace tokamak {
namespace {

constexpr size_t kBytes[] = {1, 2, 3, 4, 4};  // by PcmFormat

float sample_of(PcmFormat format, std::span<const std::byte> bytes) {
  uint32_t bits = 0;
  for (size_t i = 0; i < bytes.size(); ++i) bits |= uint32_t(bytes[i]) << (8 * i);
  switch (format) {
    case PcmFormat::kU8:
      return (float(bits) - 128) / 128;
    case PcmFormat::kF32:
      return std::bit_cast<float>(bits);
    default:
      // The sign stands in the highest bit.
      return float(double(int32_t(bits << (32 - 8 * bytes.size()))) / 2147483648.0);
  }
}

}  // namespace

std::optional<PcmFormat> pcm_format(std::string_view name) {
  const auto* const found = std::ranges::find(kPcmFormatNames, name);
  if (found == std::end(kPcmFormatNames)) return std::nullopt;
  return PcmFormat(found - std::begin(kPcmFormatNames));
}

PcmReader::PcmReader(PcmFormat format, uint32_t channels)
    : format_(format),
      sample_bytes_(kBytes[size_t(format)]),
      moment_bytes_(sample_bytes_ * channels) {}

void PcmReader::add(std::span<const std::byte> bytes, std::vector<float>& out) {
  rest_.insert(rest_.end(), bytes.begin(), bytes.end());
  const size_t whole = rest_.size() / moment_bytes_ * moment_bytes_;
  for (size_t at = 0; at < whole; at += sample_bytes_) {
    out.push_back(sample_of(format_, std::span(rest_).subspan(at, sample_bytes_)));
  }
  rest_.erase(rest_.begin(), rest_.begin() + ptrdiff_t(whole));
}

}  // namespace tokamak
