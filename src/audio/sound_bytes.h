// SoundBytes: bytes in memory, in several parts, as decoders read and seek in a file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tokamak {

class SoundBytes {
 public:
  /// REQUIRES: all parts outlive the source.
  explicit SoundBytes(std::vector<std::span<const std::byte>> parts);

  size_t size() const { return size_; }
  size_t at() const { return at_; }
  /// Copies as many bytes as there are, at most `count`; returns their number.
  size_t read(void* out, size_t count);
  /// Returns the new place, within the file whatever the offset is. `from`: as lseek() has it.
  size_t seek(int64_t offset, int from);

 private:
  std::vector<std::span<const std::byte>> parts_;
  size_t size_ = 0, at_ = 0;
};

/// Returns the number in some bytes of a file, little end first. REQUIRES: they are in it.
uint64_t number_at(std::span<const std::byte> file, size_t at, size_t bytes);
/// Returns the number in some bytes, big end first.
uint64_t big_number(std::span<const std::byte> bytes);

}  // namespace tokamak
