// Vectors in 16-bit floats, and the nearest of them by comparing with all: exact, and faster than a
// graph of neighbours up to about 100,000.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tokamak::memory {

std::vector<uint16_t> to_f16(std::span<const float> values);
/// REQUIRES: as many as `query`, all finite.
float dot(std::span<const uint16_t> vector, std::span<const float> query);

class VectorIndex {
 public:
  struct Near {
    int64_t id;
    float cosine;
  };

  VectorIndex() = default;
  explicit VectorIndex(uint32_t dimension) : dimension_(dimension) {}

  /// REQUIRES: `dimension` numbers. Ids ascend.
  void add(int64_t id, std::span<const uint16_t> vector);
  size_t size() const { return ids_.size(); }

  /// The nearest `most`, best first; of equals the smaller id first. `among`: ascending ids that
  /// may be found; null: all. REQUIRES: `query` has unit length and `dimension` numbers.
  std::vector<Near> nearest(std::span<const float> query, size_t most,
                            const std::vector<int64_t>* among = nullptr) const;

 private:
  uint32_t dimension_ = 0;
  std::vector<int64_t> ids_;
  std::vector<uint16_t> numbers_;
};

}  // namespace tokamak::memory
