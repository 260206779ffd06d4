// Numbers that were kept as bytes.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace tokamak::memory {

/// The whole numbers of type T in `bytes`, of which there may be none.
template <typename T>
std::vector<T> numbers_of(std::span<const std::byte> bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  // No bytes may be nowhere, from which not even nothing may be copied.
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

}  // namespace tokamak::memory
