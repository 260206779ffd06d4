// PiecewiseSource: a file that is never in memory as a whole, such as one that a browser holds.
#pragma once
#include <deque>

#include "formats/byte_source.h"

namespace tokamak {

/// A source that keeps the bytes a subclass fetches for a while, and fetches what follows small
/// requests: readers of formats look at a few bytes at a time, and the streams of packed rows at
/// the same bytes one after the other. Not for use by two threads at once.
class PiecewiseSource : public ByteSource {
 public:
  Result<FileBytes> view(uint64_t offset, uint64_t length) const override;
  Result<void> read(uint64_t offset, std::span<std::byte> out) const override;
  bool is_in_memory() const override { return false; }

 protected:
  using ByteSource::ByteSource;

  /// Fills `out` with the bytes from `offset` on. The range lies inside the source.
  virtual Result<void> fetch(uint64_t offset, std::span<std::byte> out) const = 0;

 private:
  static constexpr uint64_t kMinFetchedBytes = uint64_t{512} << 10;
  static constexpr uint64_t kMaxKeptBytes = uint64_t{1} << 20;  // of one piece; longer ones are not
  static constexpr size_t kPiecesKept = 4;

  struct Piece {
    uint64_t begin = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes;
  };
  mutable std::deque<Piece> kept_;  // the last used first
};

/// A file that the host of a WebAssembly module reads; `id` is the host's number of it. Browser
/// builds only.
std::shared_ptr<ByteSource> host_file(std::string name, uint64_t size, uint32_t id);

}  // namespace tokamak
