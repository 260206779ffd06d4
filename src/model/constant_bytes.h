// The bytes of a constant, for the tests of this folder and of engine: as they come in one share,
// and the same in several, from a file in memory and from one that is read in pieces.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "formats/copied_source_test.h"
#include "model/weights.h"

namespace tokamak {

/// The bytes as `shares` shares give them, the last one first; each must come once.
inline Result<std::vector<std::byte>> constant_bytes(const TensorFile& file,
                                                     const TensorDesc& constant, uint32_t shares) {
  std::vector<std::byte> bytes(size_t(byte_count(constant, 1)));
  std::vector<uint8_t> is_there(bytes.size());
  const auto write = [&](uint64_t offset, std::span<const std::byte> piece) -> Result<void> {
    const uint64_t end = offset + piece.size();
    EXPECT_EQ(offset % 4, 0u);
    EXPECT_TRUE(end % 4 == 0 || end == bytes.size()) << end << " of " << bytes.size();
    if (end > bytes.size()) return invalid_input("{} bytes of {}.", end, bytes.size());
    std::ranges::copy(piece, bytes.begin() + std::ptrdiff_t(offset));
    const auto first = is_there.begin() + std::ptrdiff_t(offset);
    const auto last = first + std::ptrdiff_t(piece.size());
    EXPECT_EQ(std::count(first, last, 1), 0) << "again from " << offset << " on";
    std::fill(first, last, uint8_t{1});
    return {};
  };
  for (uint32_t i = shares; i > 0; --i) {
    TOK_TRY(read_constant(file, constant, {.index = i - 1, .count = shares}, write));
  }
  EXPECT_EQ(std::ranges::count(is_there, 0), 0) << "in " << shares << " shares";
  return bytes;
}

/// The bytes, which must not depend on the number of shares and on where the file is.
inline std::vector<std::byte> constant_bytes(const TensorFile& file, const TensorDesc& constant) {
  const auto whole = constant_bytes(file, constant, 1);
  EXPECT_TRUE(whole) << whole.error().message;
  if (!whole) return std::vector<std::byte>(size_t(byte_count(constant, 1)));
  for (const uint32_t shares : {2u, 3u, 20u}) {
    const auto divided = constant_bytes(file, constant, shares);
    EXPECT_TRUE(divided && *divided == *whole) << constant.name << " in " << shares << " shares";
  }
  const auto read = constant_bytes(in_pieces(file), constant, 1);
  EXPECT_TRUE(read && *read == *whole) << constant.name << " read in pieces";
  return *whole;
}

}  // namespace tokamak
