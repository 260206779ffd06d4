// FLAC files whose header may be wrong about their length.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tokamak {

struct FlacPiece {
  std::string head;  // the file's first bytes, with a length that is not known
  std::span<const std::byte> rest;
  uint64_t frames = 0;  // by its header; 0: not known
};

/// Several pieces where files were put one after the other. REQUIRES: the file begins as FLAC.
std::vector<FlacPiece> read_flac(std::span<const std::byte> file);

}  // namespace tokamak
