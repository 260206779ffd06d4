#include "audio/flac.h"

#include <string_view>

namespace tokamak {
namespace {

/// The mark, the header of the first block of metadata, whose size is always the same, and it.
constexpr std::string_view kMark = "fLaC";
constexpr size_t kHead = 4 + 4 + 34;
constexpr size_t kFramesAt = 21;  // 36 bits: the lower four of this byte, and four bytes more

bool begins_file(std::string_view text) {
  using namespace std::string_view_literals;
  constexpr uint8_t kIsLast = 0x80;
  return text.size() >= kHead && (uint8_t(text[4]) & ~kIsLast) == 0 &&
         text.substr(5, 3) == "\0\0\x22"sv;
}

FlacPiece piece_of(std::string_view file) {
  FlacPiece piece{.head = std::string(file.substr(0, kHead)), .rest = {}};
  const std::string_view rest = file.substr(piece.head.size());
  piece.rest = std::as_bytes(std::span(rest));
  if (piece.head.size() < kHead) return piece;
  for (size_t i = 0; i < 5; ++i) {
    char& own = piece.head[kFramesAt + i];
    const uint8_t mask = i == 0 ? 0x0f : 0xff;
    piece.frames = piece.frames << 8 | (uint8_t(own) & mask);
    own = char(uint8_t(own) & ~mask);
  }
  return piece;
}

}  // namespace

std::vector<FlacPiece> read_flac(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  std::vector<FlacPiece> pieces;
  size_t begin = 0;
  for (size_t at = 0; (at = text.find(kMark, at + 1)) != text.npos;) {
    if (!begins_file(text.substr(at))) continue;
    pieces.push_back(piece_of(text.substr(begin, at - begin)));
    begin = at;
  }
  pieces.push_back(piece_of(text.substr(begin)));
  return pieces;
}

}  // namespace tokamak
