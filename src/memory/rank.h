// One order out of several.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tokamak::memory {

struct Ranked {
  int64_t id;
  double score;
};

/// Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): the score of an id is the sum
/// of 1 / (60 + rank) over the lists that have it, from rank 1. Best first; of equals the smaller
/// id first.
std::vector<Ranked> fuse(std::span<const int64_t> one, std::span<const int64_t> other);

}  // namespace tokamak::memory
