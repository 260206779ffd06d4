// Any bytes as the file of an image: an error or an image of the size that was allowed.
#include <cstdint>

#include "base/check.h"
#include "image/decode.h"

using namespace tokamak;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  constexpr ImageLimits kLimits = {.max_pixels = 1 << 16};
  if (const auto image = decode_image(std::as_bytes(std::span(input, size)), kLimits)) {
    TOK_CHECK(image->width > 0 && image->height > 0);
    TOK_CHECK(uint64_t{image->width} * image->height <= kLimits.max_pixels);
    TOK_CHECK(image->rgb.size() == size_t{image->width} * image->height * 3);
  }
  return 0;
}
