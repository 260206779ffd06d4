// WebP by libwebp's own conversion to RGB; its demultiplexer finds EXIF and the first frame.
#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "image/decoders.h"

namespace tokamak {
namespace {

struct Delete {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};

Orientation orientation_of(const WebPDemuxer* demuxer) {
  WebPChunkIterator chunk = {};
  if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk) == 0) return Orientation::kUpright;
  const Orientation orientation =
      exif_orientation({reinterpret_cast<const std::byte*>(chunk.chunk.bytes), chunk.chunk.size});
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

/// The place of a frame in its canvas, and its bytes, which are the file's.
struct Frame {
  uint64_t x = 0, y = 0, width = 0, height = 0;
  std::span<const uint8_t> bytes;
};

/// Empty bytes where there is no frame.
Frame first_frame(const WebPDemuxer* demuxer) {
  WebPIterator at = {};
  Frame frame;
  if (WebPDemuxGetFrame(demuxer, 1, &at) != 0) {
    frame = {.x = uint64_t(at.x_offset),
             .y = uint64_t(at.y_offset),
             .width = uint64_t(at.width),
             .height = uint64_t(at.height),
             .bytes = {at.fragment.bytes, at.fragment.size}};
  }
  WebPDemuxReleaseIterator(&at);
  return frame;
}

}  // namespace

Result<StoredImage> decode_webp(std::span<const std::byte> file, const ImageLimits& limits) {
  const WebPData data = {reinterpret_cast<const uint8_t*>(file.data()), file.size()};
  const std::unique_ptr<WebPDemuxer, Delete> demuxer(WebPDemux(&data));
  if (!demuxer)
    return invalid_input("The file is damaged or cut off: its parts do not fit together.");
  const uint32_t width = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH);
  const uint32_t height = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT);
  TOK_TRY(check_image_size(width, height, limits));
  const Frame frame = first_frame(demuxer.get());
  if (frame.bytes.empty() || frame.x + frame.width > width || frame.y + frame.height > height) {
    return invalid_input(
        "The file is damaged or cut off: its first frame is not inside the image.");
  }

  StoredImage stored = {.image = black_image(width, height)};
  const size_t row_bytes = size_t{width} * 3;
  const size_t start = size_t(frame.y) * row_bytes + size_t(frame.x) * 3;
  // A frame whose own header claims another size than its container's does not fit and is refused.
  if (WebPDecodeRGBInto(frame.bytes.data(), frame.bytes.size(), stored.image.rgb.data() + start,
                        stored.image.rgb.size() - start, int(row_bytes)) == nullptr) {
    return invalid_input("The file is damaged or cut off: its pixels cannot be decoded.");
  }
  stored.orientation = orientation_of(demuxer.get());
  return stored;
}

}  // namespace tokamak
