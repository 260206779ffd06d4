// Files whose bytes are memory. Native builds only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/system/file.h"

namespace tokamak {

/// The bytes of a file, read-only, until the object ends; the file need not stay open. Where the
/// file becomes shorter, touching the bytes that are lost ends the program on some systems, and
/// others refuse to shorten it.
class MappedFile {
 public:
  /// Maps the first `bytes` of the file, as many as it has at most. Errors as File's.
  static Result<MappedFile> map(const File& file, uint64_t bytes);

  MappedFile() = default;  // no bytes
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace tokamak
