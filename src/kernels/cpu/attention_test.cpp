#include "kernels/cpu/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "graph/kv_cache.h"

namespace tokamak {
namespace {

constexpr uint32_t kKeyCount = 1300, kKvHeads = 2, kHeads = 6, kHeadDim = 20;

/// A cache of one sequence, whose pages lie in no order.
class Cache {
 public:
  explicit Cache(DType dtype) : pages_(ceil_div(kKeyCount, uint32_t{kPageTokens})) {
    std::iota(pages_.begin(), pages_.end(), 0u);
    std::shuffle(pages_.begin(), pages_.end(), random_);
    const uint32_t cells = uint32_t(pages_.size() * kPageTokens);
    const uint32_t width = dtype == kQ8Cache ? kHeadDim + 4 : kHeadDim;
    bytes_.resize(size_t{cells} * 2 * kKvHeads * width * sizeof(float));
    tensor_ = {bytes_.data(), dtype, {cells, 2, kKvHeads, width}};
    std::vector<float> head(kHeadDim);
    for (size_t position = 0; position < kKeyCount; ++position) {
      for (size_t part = 0; part < 2; ++part) {
        for (size_t h = 0; h < kKvHeads; ++h) {
          fill(head);
          store_cached(tensor_, pages_, {position, part, h}, head);
        }
      }
    }
  }

  void fill(std::span<float> values) {
    for (float& value : values) value = std::normal_distribution<float>()(random_);
  }
  const CpuTensor& tensor() const { return tensor_; }
  std::span<const uint32_t> pages() const { return pages_; }

 private:
  std::mt19937 random_{11};
  std::vector<uint32_t> pages_;
  std::vector<std::byte> bytes_;
  CpuTensor tensor_;
};

/// Rows at the ends of pages, blocks and parts, near the beginning, with windows and without.
std::vector<AttentionRow> rows_of(const Cache& cache, std::span<const float> queries) {
  constexpr std::pair<size_t, size_t> kSeen[] = {{0, 1},       {0, 64},    {0, 65},     {3, 512},
                                                 {0, 513},     {511, 512}, {500, 1100}, {0, 1024},
                                                 {1290, 1300}, {0, 1300}};
  std::vector<AttentionRow> rows;
  for (const auto& [begin, end] : kSeen) {
    rows.push_back({.queries = queries.data() + rows.size() * kHeads * kHeadDim,
                    .pages = cache.pages(),
                    .begin = begin,
                    .end = end,
                    .position = end - 1});
  }
  return rows;
}

TEST(VectorAttention, IsThatOfTheReference) {
  ThreadPool pool(3);
  for (const DType dtype : {DType::kF32, DType::kF16, kQ8Cache}) {
    Cache cache(dtype);
    std::vector<float> queries(10 * kHeads * kHeadDim), sinks(kHeads);
    cache.fill(queries);
    cache.fill(sinks);
    const std::vector<AttentionRow> rows = rows_of(cache, queries);
    for (const bool divides : {false, true}) {
      for (const float softcap : {0.0f, 2.0f}) {
        const AttentionWork work{.cache = &cache.tensor(),
                                 .heads = kHeads,
                                 .scale = 0.3f,
                                 .softcap = softcap,
                                 .sinks = sinks,
                                 .divides_keys = divides};
        std::vector<float> y(queries.size(), NAN);
        attend_rows(pool, work, rows, y);
        for (size_t i = 0; i < rows.size() * kHeads; ++i) {
          const AttentionRow& row = rows[i / kHeads];
          const size_t head = i % kHeads;
          const KeyRange keys{head / (kHeads / kKvHeads), row.begin, row.end};
          const Attended seen = attend(std::span(queries).subspan(i * kHeadDim, kHeadDim),
                                       cache.tensor(), cache.pages(), keys, work.scale, softcap);
          const double total = seen.total + std::exp(double(sinks[head]) - double(seen.largest));
          for (size_t e = 0; e < kHeadDim; ++e) {
            ASSERT_NEAR(y[i * kHeadDim + e], seen.sums[e] / total, 1e-5)
                << "row " << i / kHeads << " head " << head << " divides " << divides;
          }
        }
      }
    }
  }
}

TEST(VectorAttention, WhatIsNoNumberIsSeen) {
  ThreadPool pool(2);
  Cache cache(DType::kF32);
  std::vector<float> queries(10 * kHeads * kHeadDim);
  cache.fill(queries);
  std::vector<float> head(kHeadDim, NAN);
  store_cached(cache.tensor(), cache.pages(), {40, 0, 1}, head);
  const std::vector<AttentionRow> rows = rows_of(cache, queries);
  std::vector<float> y(queries.size());
  attend_rows(pool, {.cache = &cache.tensor(), .heads = kHeads}, rows, y);
  for (size_t i = 0; i < rows.size() * kHeads; ++i) {
    const AttentionRow& row = rows[i / kHeads];
    const bool sees = row.begin <= 40 && row.end > 40 && i % kHeads >= kHeads / kKvHeads;
    EXPECT_EQ(std::isnan(y[i * kHeadDim]), sees) << "row " << i / kHeads << " head " << i % kHeads;
  }
}

}  // namespace
}  // namespace tokamak
