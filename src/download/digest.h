// The two hashes by which a hub names contents.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tokamak::download {

class Digest {
 public:
  /// SHA-256, of large files.
  static Digest sha256();
  /// The hash that git has for a file of `size` bytes: SHA-1 of "blob SIZE", NUL and the contents.
  static Digest git_blob(uint64_t size);

  void add(std::span<const std::byte> bytes);
  /// Hexadecimal digits in lower case. Ends the digest.
  std::string hex();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  explicit Digest(const char* algorithm);

  std::unique_ptr<void, Free> context_;
};

}  // namespace tokamak::download
