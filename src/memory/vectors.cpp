#include "memory/vectors.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak::memory {
namespace {

constexpr size_t kLanes = 16;

/// Without branches, so that compilers do several at once. REQUIRES: finite.
float widened(uint16_t half) {
  // The exponent's bias differs by 112; multiplying takes subnormal numbers along.
  const float magnitude = std::bit_cast<float>(uint32_t(half & 0x7fffu) << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | uint32_t(half & 0x8000u) << 16);
}

}  // namespace

std::vector<uint16_t> to_f16(std::span<const float> values) {
  std::vector<uint16_t> out;
  out.reserve(values.size());
  for (const float value : values) out.push_back(f32_to_f16(value));
  return out;
}

float dot(std::span<const uint16_t> vector, std::span<const float> query) {
  TOK_CHECK(vector.size() == query.size());
  std::array<float, kLanes> sums = {};
  size_t i = 0;
  for (; i + kLanes <= query.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += widened(vector[i + lane]) * query[i + lane];
    }
  }
  float sum = 0;
  for (; i < query.size(); ++i) sum += widened(vector[i]) * query[i];
  for (const float one : sums) sum += one;
  return sum;
}

void VectorIndex::add(int64_t id, std::span<const uint16_t> vector) {
  TOK_CHECK(vector.size() == dimension_ && (ids_.empty() || ids_.back() < id));
  ids_.push_back(id);
  numbers_.insert(numbers_.end(), vector.begin(), vector.end());
}

std::vector<VectorIndex::Near> VectorIndex::nearest(std::span<const float> query, size_t most,
                                                    const std::vector<int64_t>* among) const {
  const auto is_better = [](const Near& a, const Near& b) {
    return a.cosine != b.cosine ? a.cosine > b.cosine : a.id < b.id;
  };
  std::vector<Near> best;  // a heap with the worst on top
  auto allowed = among == nullptr ? std::vector<int64_t>::const_iterator() : among->begin();
  for (size_t i = 0; i < ids_.size() && most > 0; ++i) {
    if (among != nullptr) {
      while (allowed != among->end() && *allowed < ids_[i]) ++allowed;
      if (allowed == among->end()) break;
      if (*allowed != ids_[i]) continue;
    }
    const std::span<const uint16_t> own = std::span(numbers_).subspan(i * dimension_, dimension_);
    const Near one = {ids_[i], dot(own, query)};
    if (best.size() == most) {
      if (!is_better(one, best.front())) continue;
      std::ranges::pop_heap(best, is_better);
      best.pop_back();
    }
    best.push_back(one);
    std::ranges::push_heap(best, is_better);
  }
  std::ranges::sort_heap(best, is_better);
  return best;
}

}  // namespace tokamak::memory
