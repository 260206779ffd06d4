#include "download/digest.h"

#include <gtest/gtest.h>

#include <string_view>

namespace tokamak::download {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// FIPS 180-4's example for "abc".
TEST(Digest, Sha256OfAbc) {
  Digest digest = Digest::sha256();
  digest.add(bytes("a"));
  digest.add(bytes("bc"));
  EXPECT_EQ(digest.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// `printf 'test content\n' | git hash-object --stdin`, as the Pro Git book has it.
TEST(Digest, GitsNameOfAFile) {
  Digest digest = Digest::git_blob(13);
  digest.add(bytes("test content\n"));
  EXPECT_EQ(digest.hex(), "d670460b4b4aece5915caf5c68d12f560a9fe3e4");
}

}  // namespace
}  // namespace tokamak::download
