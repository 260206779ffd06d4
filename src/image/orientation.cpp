#include "image/orientation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace tokamak {
namespace {

/// Numbers of a TIFF structure; those outside of it are 0.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes)
      : bytes_(bytes), big_endian_(!bytes.empty() && bytes[0] == std::byte{'M'}) {}

  uint32_t u8(uint64_t at) const { return number(at, 1); }
  uint32_t u16(uint64_t at) const { return number(at, 2); }
  uint32_t u32(uint64_t at) const { return number(at, 4); }

 private:
  uint32_t number(uint64_t at, uint32_t size) const {
    if (at + size > bytes_.size()) return 0;
    uint32_t value = 0;
    for (uint32_t i = 0; i < size; ++i) {
      const uint64_t byte = big_endian_ ? at + i : at + size - 1 - i;
      value = value << 8 | std::to_integer<uint32_t>(bytes_[size_t(byte)]);
    }
    return value;
  }

  std::span<const std::byte> bytes_;
  bool big_endian_;
};

constexpr uint32_t kOrientationTag = 0x0112;
constexpr uint64_t kEntryBytes = 12;

/// The number in an entry of a directory, which may have any type of whole numbers.
std::optional<uint32_t> number_of(const Tiff& tiff, uint64_t entry) {
  constexpr uint32_t kByte = 1, kShort = 3, kLong = 4, kSignedByte = 6, kSignedShort = 8,
                     kSignedLong = 9;
  const uint64_t value = entry + 8;
  switch (tiff.u16(entry + 2)) {
    case kByte:
    case kSignedByte:
      return tiff.u8(value);
    case kShort:
    case kSignedShort:
      return tiff.u16(value);
    case kLong:
    case kSignedLong:
      return tiff.u32(value);
    default:
      return std::nullopt;
  }
}

}  // namespace

Orientation exif_orientation(std::span<const std::byte> exif) {
  constexpr std::array<char, 6> kMark = {'E', 'x', 'i', 'f', 0, 0};
  if (exif.size() >= kMark.size() && std::memcmp(exif.data(), kMark.data(), kMark.size()) == 0) {
    exif = exif.subspan(kMark.size());
  }
  const Tiff tiff(exif);
  if (tiff.u16(2) != 42) return Orientation::kUpright;
  const uint64_t directory = tiff.u32(4);
  const uint32_t entries = tiff.u16(directory);
  for (uint32_t i = 0; i < entries; ++i) {
    const uint64_t entry = directory + 2 + i * kEntryBytes;
    if (tiff.u16(entry) != kOrientationTag) continue;
    const auto value = number_of(tiff, entry);
    if (value && *value >= 1 && *value <= 8) return Orientation(*value);
  }
  return Orientation::kUpright;
}

Image upright(Image image, Orientation orientation) {
  if (orientation == Orientation::kUpright) return image;
  const uint32_t w = image.width, h = image.height;
  const bool turned = orientation >= Orientation::kTranspose;
  Image out = black_image(turned ? h : w, turned ? w : h);
  for (uint32_t y = 0; y < out.height; ++y) {
    for (uint32_t x = 0; x < out.width; ++x) {
      uint32_t from_x = turned ? y : x, from_y = turned ? x : y;
      switch (orientation) {
        case Orientation::kUpright:
        case Orientation::kTranspose:
          break;
        case Orientation::kMirrorX:
        case Orientation::kCounterClockwise:
          from_x = w - 1 - from_x;
          break;
        case Orientation::kMirrorY:
        case Orientation::kClockwise:
          from_y = h - 1 - from_y;
          break;
        case Orientation::kHalfTurn:
        case Orientation::kTransverse:
          from_x = w - 1 - from_x;
          from_y = h - 1 - from_y;
          break;
      }
      const uint8_t* const from = &image.rgb[(size_t{from_y} * w + from_x) * 3];
      std::copy_n(from, 3, &out.rgb[(size_t{y} * out.width + x) * 3]);
    }
  }
  return out;
}

}  // namespace tokamak
