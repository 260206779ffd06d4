// ByteSource: where the bytes of a file come from, so that readers of formats know no files.
// Versions: memory (here), memory-mapped files (native_files.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tokamak {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// For messages: the path as it was given, or what the maker of the source chose.
  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }

  /// The bytes [offset, offset + length) without a copy; valid as long as the source lives.
  /// An error when they are not all inside the source. The address has no particular alignment.
  virtual Result<std::span<const std::byte>> view(uint64_t offset, uint64_t length) const = 0;

  /// Copies the bytes that start at `offset` and fill `out`.
  virtual Result<void> read(uint64_t offset, std::span<std::byte> out) const = 0;

 protected:
  ByteSource(std::string name, uint64_t size) : name_(std::move(name)), size_(size) {}

  /// An error naming the source, the range and the size unless the range lies inside.
  Result<void> check_range(uint64_t offset, uint64_t length) const;

 private:
  std::string name_;
  uint64_t size_;
};

/// A source that owns its bytes.
std::shared_ptr<ByteSource> memory_source(std::string name, std::vector<std::byte> bytes);

}  // namespace tokamak
