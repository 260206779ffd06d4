// FNV-1a, for names and checksums of our own caches: not for what an attacker may choose.
#pragma once
#include <cstdint>
#include <span>

namespace tokamak {

inline constexpr uint64_t kHashStart = 0xcbf29ce484222325u;

/// `state` goes on from an earlier part.
template <typename Byte>
  requires(sizeof(Byte) == 1)
constexpr uint64_t hash_bytes(std::span<const Byte> bytes, uint64_t state = kHashStart) {
  for (const Byte byte : bytes) state = (state ^ uint8_t(byte)) * 0x100000001b3u;
  return state;
}

}  // namespace tokamak
