// Images of files in the browser, which the page decodes: the imports "image", of
// web/tokamak-web/src/host/image.ts. decode() and pixels() suspend the module.
#include <algorithm>

#include "engine/requests/image_files.h"

#define IMAGE_IMPORT(name) extern "C" __attribute__((import_module("image"), import_name(#name)))

/// Writes width and height to `size`; 0: the file is no image that the browser knows.
IMAGE_IMPORT(decode) uint32_t image_decode(const void* file, uint32_t bytes, uint32_t* size);
/// Writes the pixels of the last image, [height, width, 3], and forgets it; 0: that went wrong.
IMAGE_IMPORT(pixels) uint32_t image_pixels(void* rgb);
/// Why the last call went wrong: writes at most `capacity` bytes; how many there are.
IMAGE_IMPORT(trouble) uint32_t image_trouble(char* out, uint32_t capacity);

#undef IMAGE_IMPORT

namespace tokamak {
namespace {

Failure trouble() {
  char text[256];
  const size_t bytes = std::min<size_t>(image_trouble(text, sizeof text), sizeof text);
  return invalid_input("The browser cannot read the image: {}", std::string_view(text, bytes));
}

}  // namespace

Result<Image> image_of_bytes(std::span<const std::byte> bytes) {
  uint32_t size[2] = {};
  if (image_decode(bytes.data(), uint32_t(bytes.size()), size) == 0) return trouble();
  TOK_TRY(check_image_size(size[0], size[1], {}));
  Image image = black_image(size[0], size[1]);
  if (image_pixels(image.rgb.data()) == 0) return trouble();
  return image;
}

}  // namespace tokamak
