// ByteSource: where the bytes of a file come from, so that readers of formats know no files.
// Versions: memory (here), memory-mapped files (native_files.h), files that are read in pieces
// (piecewise_source.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tokamak {

/// Bytes of a source: memory that the source holds, or a copy that lives as long as this does.
class FileBytes {
 public:
  FileBytes() = default;
  FileBytes(std::span<const std::byte> bytes,
            std::shared_ptr<const std::vector<std::byte>> owner = {})
      : bytes_(bytes), owner_(std::move(owner)) {}

  const std::byte* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  const std::byte& front() const { return bytes_.front(); }
  const std::byte& operator[](size_t i) const { return bytes_[i]; }
  auto begin() const { return bytes_.begin(); }
  auto end() const { return bytes_.end(); }

  /// REQUIRES: the range lies inside.
  FileBytes part(size_t offset, size_t length) const {
    return {bytes_.subspan(offset, length), owner_};
  }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const std::vector<std::byte>> owner_;  // null: the source
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// For messages: the path as it was given, or what the maker of the source chose.
  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }

  /// The bytes [offset, offset + length), without a copy where the source is in memory; valid as
  /// long as both the source and the result live. An error when they are not all inside the source.
  /// The address has no particular alignment.
  virtual Result<FileBytes> view(uint64_t offset, uint64_t length) const = 0;

  /// Whether views cost nothing. Those who need much of a file look at a piece at a time where they
  /// do, and so does who reads a file that is larger than memory.
  virtual bool is_in_memory() const { return true; }

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
