#include "audio/whole.h"

#include <cstdint>
#include <string_view>

namespace tokamak {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint32_t number_at(std::span<const std::byte> file, size_t at) {  // little end first
  uint32_t number = 0;
  for (size_t i = 4; i-- > 0;) number = number << 8 | std::to_integer<uint32_t>(file[at + i]);
  return number;
}

}  // namespace

Result<void> check_whole_wav(std::span<const std::byte> file) {
  constexpr size_t kFirstChunk = 12, kChunkHeader = 8;
  constexpr uint32_t kUnknown = 0x7fff'0000;  // and above: nobody knew when this was written
  for (size_t at = kFirstChunk; at + kChunkHeader <= file.size();) {
    const uint32_t size = number_at(file, at + 4);
    const size_t rest = file.size() - at - kChunkHeader;
    if (text_of(file.subspan(at, 4)) == "data") {
      if (size <= rest || size >= kUnknown) return {};
      return invalid_input(
          "The file is cut off: its header says {} bytes of samples, but {} follow.", size, rest);
    }
    if (size > rest) break;
    at += kChunkHeader + size + size % 2;
  }
  return invalid_input("The file is damaged or cut off: it has no chunk of samples.");
}

Result<void> check_whole_ogg(std::span<const std::byte> file) {
  constexpr size_t kSegments = 26;  // where a page says how many lengths follow
  const size_t page = text_of(file).rfind("OggS");
  const size_t rest = file.size() - page;
  size_t size = kSegments + 1;
  if (rest >= size) {
    const auto lengths = std::to_integer<size_t>(file[page + kSegments]);
    size += lengths;
    for (size_t i = 0; i < lengths && rest >= size; ++i) {
      size += std::to_integer<size_t>(file[page + kSegments + 1 + i]);
    }
  }
  if (size <= rest) return {};
  return invalid_input("The file is cut off: its last page has at least {} bytes, but {} follow.",
                       size, rest);
}

}  // namespace tokamak
