// Samples without a header, as programs write them into pipes, by ffmpeg's names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tokamak {

/// Little end first where a sample has several bytes; whole numbers with a sign but for kU8.
enum class PcmFormat : uint8_t { kU8, kS16, kS24, kS32, kF32 };
inline constexpr std::string_view kPcmFormatNames[] = {"u8", "s16le", "s24le", "s32le", "f32le"};
std::optional<PcmFormat> pcm_format(std::string_view name);

/// Bytes to numbers from -1 to 1, piece by piece: a moment's samples of all channels may be cut.
class PcmReader {
 public:
  PcmReader(PcmFormat format, uint32_t channels);
  /// Adds to `out` the samples of the moments that are whole by now.
  void add(std::span<const std::byte> bytes, std::vector<float>& out);
  size_t moment_bytes() const { return moment_bytes_; }
  /// Whether the last moment was cut off.
  bool is_cut() const { return !rest_.empty(); }

 private:
  PcmFormat format_;
  size_t sample_bytes_, moment_bytes_;
  std::vector<std::byte> rest_;
};

}  // namespace tokamak
