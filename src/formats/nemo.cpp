#include "formats/nemo.h"

#include <zlib.h>

#include <algorithm>

#include "formats/archive.h"
#include "formats/torch_file.h"
#include "formats/yaml.h"

namespace tokamak {
namespace {

constexpr uint64_t kMaxConfigBytes = uint64_t{1} << 20;
/// The limit of unpacked bytes, which are held in memory; a codec has a tenth of that.
constexpr uint64_t kMaxUnpackedBytes = uint64_t{2} << 30;

/// The end of zlib's work, whatever it was.
struct Inflater {
  z_stream stream = {};
  ~Inflater() { inflateEnd(&stream); }
};

/// Unpacks a gzip stream, in memory.
Result<std::shared_ptr<ByteSource>> unpacked(const ByteSource& source) {
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  constexpr int kGzip = 16 + MAX_WBITS;
  Inflater inflater;
  z_stream& stream = inflater.stream;
  if (inflateInit2(&stream, kGzip) != Z_OK) {
    return fail(ErrorCode::kOutOfMemory, "There is no memory to unpack the file.");
  }
  std::vector<std::byte> out;
  uint64_t filled = 0;
  for (uint64_t at = 0; at < source.size();) {
    const uint64_t count = std::min(kPiece, source.size() - at);
    TOK_TRY(const FileBytes piece, source.view(at, count));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
    stream.avail_in = uInt(count);
    at += count;
    while (stream.avail_in > 0) {
      if (filled == out.size()) {
        if (filled >= kMaxUnpackedBytes) {
          return invalid_input("Unpacked it has more than {} bytes.", kMaxUnpackedBytes);
        }
        out.resize(std::min(kMaxUnpackedBytes, std::max(kPiece, 2 * filled)));
      }
      const uint64_t room = std::min<uint64_t>(out.size() - filled, UINT32_MAX);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
      stream.avail_out = uInt(room);
      const int status = inflate(&stream, Z_NO_FLUSH);
      filled += room - stream.avail_out;
      if (status == Z_STREAM_END) {
        out.resize(filled);
        return memory_source(source.name(), std::move(out));
      }
      if (status != Z_OK) return invalid_input("It is packed by gzip, and damaged.");
    }
  }
  return invalid_input("It is packed by gzip, and ends too early.");
}

Result<NemoFile> read(std::shared_ptr<ByteSource> source) {
  constexpr std::byte kGzipMagic[] = {std::byte{0x1f}, std::byte{0x8b}};
  if (source->size() >= 2) {
    TOK_TRY(const FileBytes magic, source->view(0, 2));
    if (std::ranges::equal(magic, kGzipMagic)) {
      TOK_TRY(source, unpacked(*source));
    }
  }
  TOK_TRY(const std::vector<ArchivedFile> files, list_tar(*source));
  TOK_TRY(const ArchivedFile config, only_file(files, "model_config.yaml"));
  TOK_TRY(const ArchivedFile weights, only_file(files, "model_weights.ckpt"));
  if (config.bytes > kMaxConfigBytes) {
    return invalid_input("\"{}\" has {} bytes; at most {} are allowed.", config.name, config.bytes,
                         kMaxConfigBytes);
  }
  TOK_TRY(const FileBytes text, source->view(config.offset, config.bytes));
  NemoFile nemo;
  auto parsed = parse_yaml({reinterpret_cast<const char*>(text.data()), text.size()});
  if (!parsed) return Failure(parsed.error().within(config.name));
  nemo.config = *std::move(parsed);
  TOK_TRY(nemo.tensors, read_torch_file(std::move(source), weights));
  return nemo;
}

}  // namespace

Result<NemoFile> read_nemo(std::shared_ptr<ByteSource> source) {
  const std::string name = source->name();
  auto nemo = read(std::move(source));
  if (!nemo && !nemo.error().message.starts_with(name)) return Failure(nemo.error().within(name));
  return nemo;
}

}  // namespace tokamak
