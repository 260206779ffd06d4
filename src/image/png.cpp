// PNG by libspng, which reports failures as values and decodes any kind of PNG to RGB of 8 bits.
#include <spng.h>

#include <memory>

#include "image/decoders.h"

namespace tokamak {
namespace {

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

/// Chunks that are kept in memory, such as EXIF and texts, are small.
constexpr size_t kMaxChunkBytes = size_t{4} << 20;
constexpr size_t kMaxKeptBytes = size_t{16} << 20;

Failure damaged(int code) {
  return invalid_input("The file is damaged or cut off: {}.", spng_strerror(code));
}

}  // namespace

Result<StoredImage> decode_png(std::span<const std::byte> file, const ImageLimits& limits) {
  const std::unique_ptr<spng_ctx, FreeContext> context(spng_ctx_new(0));
  if (!context) return fail(ErrorCode::kOutOfMemory, "Out of memory while decoding the image.");
  spng_set_chunk_limits(context.get(), kMaxChunkBytes, kMaxKeptBytes);
  if (const int code = spng_set_png_buffer(context.get(), file.data(), file.size())) {
    return damaged(code);
  }
  spng_ihdr header = {};
  if (const int code = spng_get_ihdr(context.get(), &header)) return damaged(code);
  TOK_TRY(check_image_size(header.width, header.height, limits));

  StoredImage stored = {.image = black_image(header.width, header.height)};
  if (const int code = spng_decode_image(context.get(), stored.image.rgb.data(),
                                         stored.image.rgb.size(), SPNG_FMT_RGB8, 0)) {
    return damaged(code);
  }
  // EXIF may follow the pixels; damage there does not matter to them.
  spng_exif exif = {};
  if (spng_decode_chunks(context.get()) == 0 && spng_get_exif(context.get(), &exif) == 0) {
    stored.orientation =
        exif_orientation({reinterpret_cast<const std::byte*>(exif.data), exif.length});
  }
  return stored;
}

}  // namespace tokamak
