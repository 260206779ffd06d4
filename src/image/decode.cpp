#include "image/decode.h"

#include <string_view>
#include <utility>

#include "image/decoders.h"

namespace tokamak {
namespace {

struct Format {
  std::string_view name;
  std::string_view mark;       // the first bytes
  std::string_view mark_at_8;  // and those that follow at byte 8
  Result<StoredImage> (*decode)(std::span<const std::byte>, const ImageLimits&);
};

constexpr Format kFormats[] = {
    {"PNG", "\x89PNG\r\n\x1a\n", "", decode_png},
    {"JPEG", "\xff\xd8\xff", "", decode_jpeg},
    {"WebP", "RIFF", "WEBP", decode_webp},
};

}  // namespace

Result<Image> decode_image(std::span<const std::byte> file, const ImageLimits& limits) {
  if (file.empty()) return invalid_input("The file is empty, expected an image.");
  if (file.size() > limits.max_file_bytes) {
    return invalid_input("The image file has {} bytes, expected at most {}; make it smaller first.",
                         file.size(), limits.max_file_bytes);
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (const Format& format : kFormats) {
    if (!text.starts_with(format.mark)) continue;
    if (text.size() < 8 || !text.substr(8).starts_with(format.mark_at_8)) continue;
    auto stored = format.decode(file, limits);
    if (!stored) return std::unexpected(std::move(stored).error().within(format.name));
    return upright(std::move(stored->image), stored->orientation);
  }
  return unsupported(
      "The file is not an image that is read here, expected PNG, JPEG or WebP; convert it first.");
}

}  // namespace tokamak
