#include "audio/wav.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "audio/sound_bytes.h"

namespace tokamak {
namespace {

constexpr size_t kFileHeader = 12, kChunkHeader = 8;
constexpr uint32_t kMp3Tag = 0x55;
/// More of a format is not read, and would be copied for every piece.
constexpr uint64_t kMaxFormat = 1024;

std::string_view text_at(std::span<const std::byte> file, size_t at, size_t size = 4) {
  if (at > file.size()) return {};
  const auto own = file.subspan(at, std::min(size, file.size() - at));
  return {reinterpret_cast<const char*>(own.data()), own.size()};
}

std::string number_text(size_t number, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += char(number >> 8 * i);
  return text;
}

bool begins_file(std::span<const std::byte> file, size_t at) {
  const std::string_view mark = text_at(file, at);
  return (mark == "RIFF" || mark == "RF64" || mark == "BW64") && text_at(file, at + 8) == "WAVE";
}

bool is_chunk(std::span<const std::byte> file, size_t at) {
  return at + kChunkHeader <= file.size() &&
         std::ranges::all_of(text_at(file, at), [](char c) { return c >= ' ' && c <= '~'; });
}

/// The place after a chunk: chunks begin at even places, which some programs forget.
size_t end_of_chunk(std::span<const std::byte> file, size_t at, uint64_t size) {
  const size_t end = at + kChunkHeader + size_t(size);
  if (size % 2 == 0) return end;
  return is_chunk(file, end) && !is_chunk(file, end + 1) ? end : end + 1;
}

/// Whether chunks, or nothing, are all that is left.
bool only_chunks_follow(std::span<const std::byte> file, size_t at) {
  while (is_chunk(file, at)) {
    const uint64_t size = number_at(file, at + 4, 4);
    if (size > file.size() - at - kChunkHeader) return false;
    at = end_of_chunk(file, at, size);
  }
  return at >= file.size();
}

/// The file's chunks from first to last.
class Walker {
 public:
  explicit Walker(std::span<const std::byte> file) : file_(file) {}

  Result<WavFile> run() {
    size_t at = 0;
    while (is_chunk(file_, at)) {
      if (begins_file(file_, at)) {
        at += kFileHeader;
        format_ = {};
        long_size_.reset();
        continue;
      }
      const std::string_view id = text_at(file_, at);
      uint64_t size = number_at(file_, at + 4, 4);
      const size_t rest = file_.size() - at - kChunkHeader;
      if (id == "data") {
        size = size_of_samples(at, size, rest);
        if (format_.empty()) {
          return invalid_input("The file is damaged: it has samples, but no format before them.");
        }
        found_.pieces.push_back({format_, file_.subspan(at + kChunkHeader, size_t(size))});
      } else if (size > rest) {
        break;
      } else if (id == "fmt ") {
        format_ = file_.subspan(at + kChunkHeader, size_t(std::min(size, kMaxFormat)));
      } else if (id == "ds64" && size >= 16) {
        long_size_ = number_at(file_, at + kChunkHeader + 8, 8);
      }
      at = end_of_chunk(file_, at, size);
    }
    if (found_.pieces.empty()) {
      return invalid_input("The file is damaged or cut off: it has no chunk of samples.");
    }
    return std::move(found_);
  }

 private:
  uint64_t size_of_samples(size_t at, uint64_t size, size_t rest) {
    constexpr uint64_t kUnknown = 0x7fff'0000;  // and above, where 32 bits are all there is
    bool is_open = size >= kUnknown;
    if (size == 0xffff'ffff && long_size_) {
      size = *long_size_;
      is_open = int64_t(size) <= 0;
    } else if (size == 0) {
      // If only chunks follow one, only chunks follow the later ones.
      only_chunks_ = only_chunks_ || only_chunks_follow(file_, at + kChunkHeader);
      is_open = !only_chunks_;
    }
    if (is_open && (size == 0 || size > rest)) return rest;
    if (size > rest) {
      found_.missing = fmt::format(
          "The file is cut off: its header says {} bytes of samples, but {} follow.", size, rest);
      return rest;
    }
    return size;
  }

  std::span<const std::byte> file_, format_;
  std::optional<uint64_t> long_size_;  // of the samples, in RF64
  bool only_chunks_ = false;           // are left
  WavFile found_;
};

}  // namespace

bool is_wav(std::span<const std::byte> file) {
  return begins_file(file, 0);
}

Result<WavFile> read_wav(std::span<const std::byte> file) {
  return Walker(file).run();
}

std::string wav_head(const WavPiece& piece) {
  std::string format(text_at(piece.format, 0, piece.format.size()));
  const std::string chunk = "fmt " + number_text(format.size(), 4) + format +
                            std::string(format.size() % 2, '\0') + "data" +
                            number_text(piece.samples.size(), 4);
  return "RIFF" + number_text(4 + chunk.size() + piece.samples.size(), 4) + "WAVE" + chunk;
}

bool is_mp3(const WavPiece& piece) {
  return piece.format.size() >= 2 && number_at(piece.format, 0, 2) == kMp3Tag;
}

}  // namespace tokamak
