#include "audio/sound_bytes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tokamak {

SoundBytes::SoundBytes(std::vector<std::span<const std::byte>> parts) : parts_(std::move(parts)) {
  for (const auto part : parts_) size_ += part.size();
}

size_t SoundBytes::read(void* out, size_t count) {
  size_t taken = 0, begin = 0;
  for (const auto part : parts_) {
    if (taken < count && at_ < begin + part.size()) {
      const auto rest = part.subspan(at_ - begin);
      const size_t some = std::min(count - taken, rest.size());
      std::memcpy(static_cast<std::byte*>(out) + taken, rest.data(), some);
      taken += some;
      at_ += some;
    }
    begin += part.size();
  }
  return taken;
}

size_t SoundBytes::seek(int64_t offset, int from) {
  const auto end = int64_t(size());
  const int64_t start = from == SEEK_SET ? 0 : from == SEEK_CUR ? int64_t(at_) : end;
  int64_t to = 0;
  // Offsets of damaged files may be anything.
  if (!__builtin_add_overflow(start, offset, &to)) at_ = size_t(std::clamp<int64_t>(to, 0, end));
  return at_;
}

uint64_t number_at(std::span<const std::byte> file, size_t at, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = bytes; i-- > 0;) number = number << 8 | std::to_integer<uint64_t>(file[at + i]);
  return number;
}

uint64_t big_number(std::span<const std::byte> bytes) {
  uint64_t number = 0;
  for (const std::byte one : bytes) number = number << 8 | std::to_integer<uint64_t>(one);
  return number;
}

}  // namespace tokamak
