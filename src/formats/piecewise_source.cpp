#include "formats/piecewise_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tokamak {

Result<FileBytes> PiecewiseSource::view(uint64_t offset, uint64_t length) const {
  TOK_TRY(check_range(offset, length));
  if (length == 0) return FileBytes();
  const auto found = std::ranges::find_if(kept_, [&](const Piece& piece) {
    return piece.begin <= offset && offset + length <= piece.begin + piece.bytes->size();
  });
  if (found != kept_.end()) {
    std::rotate(kept_.begin(), found, found + 1);
    const Piece& piece = kept_.front();
    const auto bytes = std::span(*piece.bytes);
    return FileBytes(bytes.subspan(size_t(offset - piece.begin), size_t(length)), piece.bytes);
  }
  const uint64_t fetched = std::max(length, std::min(kMinFetchedBytes, size() - offset));
  if (fetched <= kMaxKeptBytes && kept_.size() == kPiecesKept) kept_.pop_back();
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(fetched));
  TOK_TRY(fetch(offset, *bytes));
  if (fetched <= kMaxKeptBytes) kept_.push_front({offset, bytes});
  return FileBytes(std::span(*bytes).first(size_t(length)), bytes);
}

Result<void> PiecewiseSource::read(uint64_t offset, std::span<std::byte> out) const {
  if (out.size() > kMaxKeptBytes) {
    TOK_TRY(check_range(offset, out.size()));
    return fetch(offset, out);
  }
  TOK_TRY(const FileBytes bytes, view(offset, out.size()));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size());
  return {};
}

}  // namespace tokamak
