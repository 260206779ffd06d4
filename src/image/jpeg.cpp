// JPEG by libjpeg-turbo's own interface, which needs no longjmp. Its accurate DCT and smooth
// upsampling give the bytes that Pillow gives.
#include <turbojpeg.h>

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "image/decoders.h"

namespace tokamak {
namespace {

struct Destroy {
  void operator()(void* decompressor) const { tjDestroy(decompressor); }
};

/// The orientation in the APP1 segment that holds EXIF, between the start of the image and its
/// first scan:  { FF MARKER LENGTH PAYLOAD }, with LENGTH of two bytes that count themselves.
Orientation orientation_of(std::span<const std::byte> file) {
  constexpr uint32_t kApp1 = 0xe1, kStartOfScan = 0xda;
  const auto byte = [&](size_t i) { return std::to_integer<uint32_t>(file[i]); };
  size_t at = 2;
  while (at + 4 <= file.size() && byte(at) == 0xff && byte(at + 1) != kStartOfScan) {
    const uint32_t marker = byte(at + 1);
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    const size_t length = byte(at + 2) << 8 | byte(at + 3);
    if (length < 2 || at + 2 + length > file.size()) break;
    const auto payload = file.subspan(at + 4, length - 2);
    const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
    if (marker == kApp1 && text.starts_with("Exif")) return exif_orientation(payload);
    at += 2 + length;
  }
  return Orientation::kUpright;
}

/// Turns ink into light as Pillow does, without profiles. Programs store how much ink is missing.
void to_rgb(std::span<const uint8_t> cmyk, std::span<uint8_t> rgb) {
  const auto product = [](uint32_t a, uint32_t b) {  // of parts of 255, rounded
    const uint32_t sum = a * b + 128;
    return ((sum >> 8) + sum) >> 8;
  };
  for (size_t i = 0; i < rgb.size() / 3; ++i) {
    const uint32_t light = cmyk[4 * i + 3];
    for (size_t k = 0; k < 3; ++k) {
      rgb[3 * i + k] = uint8_t(light - product(255 - cmyk[4 * i + k], light));
    }
  }
}

}  // namespace

Result<StoredImage> decode_jpeg(std::span<const std::byte> file, const ImageLimits& limits) {
  const std::unique_ptr<void, Destroy> decompressor(tjInitDecompress());
  if (!decompressor)
    return fail(ErrorCode::kOutOfMemory, "Out of memory while decoding the image.");
  const auto* const bytes = reinterpret_cast<const unsigned char*>(file.data());
  if (!std::in_range<unsigned long>(file.size())) {  // 32 bits on Windows
    return unsupported("The image has {} bytes, more than a decoder of JPEG takes.", file.size());
  }
  const auto size = static_cast<unsigned long>(file.size());
  const auto reason = [&] { return std::string_view(tjGetErrorStr2(decompressor.get())); };
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (tjDecompressHeader3(decompressor.get(), bytes, size, &width, &height, &subsampling,
                          &colours) != 0) {
    return invalid_input("The file is damaged or cut off: {}.", reason());
  }
  if (width <= 0 || height <= 0) {  // a file of tables only is no error to the library
    return invalid_input("The file is damaged or cut off: it ends before the size of the image.");
  }
  TOK_TRY(check_image_size(uint64_t(width), uint64_t(height), limits));
  const bool is_cmyk = colours == TJCS_CMYK || colours == TJCS_YCCK;

  StoredImage stored = {.image = black_image(uint32_t(width), uint32_t(height))};
  std::vector<uint8_t> cmyk(is_cmyk ? stored.image.rgb.size() / 3 * 4 : 0);
  // The limit of scans is for files whose many progressive scans would take minutes.
  const int failed = tjDecompress2(
      decompressor.get(), bytes, size, is_cmyk ? cmyk.data() : stored.image.rgb.data(), width, 0,
      height, is_cmyk ? TJPF_CMYK : TJPF_RGB, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS);
  // Stray bytes, which some cameras leave, are warnings; so is a missing end, which is not
  // harmless.
  if (failed != 0 && (tjGetErrorCode(decompressor.get()) == TJERR_FATAL ||
                      reason().find("remature end") != std::string_view::npos)) {
    return invalid_input("The file is damaged or cut off: {}.", reason());
  }
  if (is_cmyk) to_rgb(cmyk, stored.image.rgb);
  stored.orientation = orientation_of(file);
  return stored;
}

}  // namespace tokamak
