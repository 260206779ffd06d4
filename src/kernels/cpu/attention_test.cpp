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
  explicit Cache(DType dtype, uint32_t head_dim = kHeadDim)
      : pages_(ceil_div(kKeyCount, uint32_t{kPageTokens})) {
    std::iota(pages_.begin(), pages_.end(), 0u);
    std::shuffle(pages_.begin(), pages_.end(), random_);
    const uint32_t cells = uint32_t(pages_.size() * kPageTokens);
    const uint32_t width = dtype == kQ8Cache ? head_dim + 4 : head_dim;
    bytes_.resize(size_t{cells} * 2 * kKvHeads * width * sizeof(float));
    tensor_ = {bytes_.data(), dtype, {cells, 2, kKvHeads, width}};
    std::vector<float> head(head_dim);
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

/// `count` rows of a prompt whose last one is at the last position.
std::vector<AttentionRow> prompt_of(const Cache& cache, std::span<const float> queries,
                                    size_t count, size_t window) {
  std::vector<AttentionRow> rows;
  for (size_t i = 0; i < count; ++i) {
    const size_t position = kKeyCount - count + i;
    rows.push_back({.queries = queries.data() + i * queries.size() / count,
                    .pages = cache.pages(),
                    .begin = first_seen(position, window, false),
                    .end = position + 1,
                    .position = position});
  }
  return rows;
}

struct Shape {
  uint32_t head_dim, group;
  size_t rows, window;
};

TEST(VectorAttention, PromptsAreThoseOfTheReference) {
  ThreadPool pool(3), alone(1);
  for (const Shape& shape : {Shape{64, 3, 90, 0}, Shape{20, 1, 41, 100}, Shape{96, 4, 70, 37},
                             Shape{256, 9, 15, 0}, Shape{80, 8, 1, 0}, Shape{4, 2, 150, 1}}) {
    for (const DType dtype : {DType::kF32, DType::kF16, kQ8Cache}) {
      SCOPED_TRACE(testing::Message()
                   << shape.head_dim << " elements, " << shape.group << " heads of a key head, "
                   << shape.rows << " rows, " << cache_type_name(dtype));
      Cache cache(dtype, shape.head_dim);
      const size_t heads = shape.group * kKvHeads, d = shape.head_dim;
      std::vector<float> queries(shape.rows * heads * d), bias(601 * heads);
      cache.fill(queries);
      cache.fill(bias);
      const auto rows = prompt_of(cache, queries, shape.rows, shape.window);
      const AttentionWork work{
          .cache = &cache.tensor(), .heads = heads, .scale = 0.2f, .softcap = 3, .bias = bias};
      std::vector<float> y(queries.size(), NAN), same(queries.size(), NAN);
      attend_rows(pool, work, rows, y);
      attend_rows(alone, work, rows, same);
      ASSERT_EQ(y, same);
      for (size_t i = 0; i < shape.rows * heads; i += 1 + i % 7) {
        const AttentionRow& row = rows[i / heads];
        const size_t head = i % heads;
        const Attended seen =
            attend(std::span(queries).subspan(i * d, d), cache.tensor(), cache.pages(),
                   {head / shape.group, row.begin, row.end}, work.scale, work.softcap,
                   {work.bias, heads, head, row.position});
        for (size_t e = 0; e < d; ++e) {
          ASSERT_NEAR(y[i * d + e], seen.sums[e] / seen.total, 2e-5)
              << "row " << i / heads << " head " << head << " element " << e;
        }
      }
    }
  }
}

TEST(VectorAttention, ARowIsTheSameBesideOthers) {
  ThreadPool pool(2);
  Cache cache(DType::kF16);
  for (const size_t window : {0u, 70u}) {
    std::vector<float> queries(200 * kHeads * kHeadDim);
    cache.fill(queries);
    const std::vector<AttentionRow> rows = prompt_of(cache, queries, 200, window);
    const AttentionWork work{.cache = &cache.tensor(), .heads = kHeads};
    std::vector<float> y(queries.size()), own(queries.size());
    attend_rows(pool, work, rows, y);
    for (const auto& [first, count] : {std::pair<size_t, size_t>{3, 197}, {51, 17}, {190, 10}}) {
      const std::span<float> some = std::span(own).first(count * kHeads * kHeadDim);
      attend_rows(pool, work, std::span(rows).subspan(first, count), some);
      EXPECT_TRUE(
          std::ranges::equal(some, std::span(y).subspan(first * kHeads * kHeadDim, some.size())))
          << count << " rows from " << first << ", window " << window;
    }
  }
}

TEST(VectorAttention, WhatIsNoNumberIsSeen) {
  ThreadPool pool(2);
  Cache cache(DType::kF32);
  std::vector<float> queries(10 * kHeads * kHeadDim);
  cache.fill(queries);
  const std::vector<AttentionRow> rows = rows_of(cache, queries);
  const std::vector<float> none(kHeadDim, NAN);
  std::vector<float> y(queries.size()), head(kHeadDim);
  for (const size_t part : {0u, 1u}) {
    load_cached(cache.tensor(), cache.pages(), {40, part, 1}, head);
    store_cached(cache.tensor(), cache.pages(), {40, part, 1}, none);
    for (const bool divides : {false, true}) {
      attend_rows(pool, {.cache = &cache.tensor(), .heads = kHeads, .divides_keys = divides}, rows,
                  y);
      for (size_t i = 0; i < rows.size() * kHeads; ++i) {
        const AttentionRow& row = rows[i / kHeads];
        const bool sees = row.begin <= 40 && row.end > 40 && i % kHeads >= kHeads / kKvHeads;
        EXPECT_EQ(std::isnan(y[i * kHeadDim]), sees)
            << "row " << i / kHeads << " head " << i % kHeads << " part " << part;
      }
    }
    store_cached(cache.tensor(), cache.pages(), {40, part, 1}, head);
  }
}

}  // namespace
}  // namespace tokamak
