// Attention to latents is attention to the keys and values that they are made to, on the CPU.
#include <gtest/gtest.h>

#include <random>

#include "case.h"

namespace tokamak::parity {
namespace {

constexpr uint32_t kHeads = 3, kStill = 10, kTurned = 6, kRank = 20;
constexpr uint32_t kHead = kStill + kTurned, kCell = kRank + kTurned;
const Steps kSteps = {40, {7, 40, 1, 1}};
constexpr float kScale = 0.3f;

/// Rows of numbers in [-1, 1].
struct Numbers {
  uint32_t rows, columns;
  std::vector<float> values = std::vector<float>(size_t{rows} * columns);

  static Numbers random(uint32_t rows, uint32_t columns, std::mt19937& random) {
    Numbers made{rows, columns};
    std::uniform_real_distribution<float> some(-1, 1);
    for (float& value : made.values) value = some(random);
    return made;
  }
  float& at(uint32_t row, uint32_t column) { return values[size_t{row} * columns + column]; }
  ValueId constant(CaseBuilder& b, const char* name) const {
    return b.constant(name, {rows, columns}, values);
  }
};

/// The queries and cells of every token, and a layer's products of low rank.
struct Layer {
  Numbers q, cells, keys, values;
};

Case absorbed(Layer layer) {
  CaseBuilder b("latents as they are");
  Numbers still{kVocab, kHeads * kStill}, turned{kVocab, kHeads * kTurned};
  Numbers latents{kVocab, kRank}, shared{kVocab, kTurned};
  for (uint32_t t = 0; t < kVocab; ++t) {
    for (uint32_t i = 0; i < kHeads * kHead; ++i) {
      const uint32_t head = i / kHead, at = i % kHead;
      if (at < kStill) still.at(t, head * kStill + at) = layer.q.at(t, i);
      if (at >= kStill) turned.at(t, head * kTurned + at - kStill) = layer.q.at(t, i);
    }
    for (uint32_t i = 0; i < kRank; ++i) latents.at(t, i) = layer.cells.at(t, i);
    for (uint32_t i = 0; i < kTurned; ++i) shared.at(t, i) = layer.cells.at(t, kRank + i);
  }
  uint32_t slots = 0;
  const ValueId pages = b.pages(64, 0, slots);
  const ValueId cache = b.graph().latent_cache("cache", DType::kF32, slots, kRank, kTurned);
  const ValueId latent = b.graph().embed(b.tokens(), latents.constant(b, "latents"));
  const ValueId key = b.graph().embed(b.tokens(), shared.constant(b, "shared"));
  const ValueId held = b.graph().latent_append(latent, key, cache, pages);
  const ValueId q = b.graph().embed(b.tokens(), still.constant(b, "still"));
  const ValueId qr = b.graph().embed(b.tokens(), turned.constant(b, "turned"));
  const ValueId ql = b.graph().head_linear(q, layer.keys.constant(b, "keys"),
                                           {.heads = kHeads, .transposed = true});
  const ValueId seen = b.graph().latent_attention(ql, qr, held, pages, kScale);
  const ValueId y =
      b.graph().head_linear(seen, layer.values.constant(b, "values"), {.heads = kHeads});
  return b.finish(y, kSteps, 1e-6);
}

/// A head's key is the product of its rows with the latent, and what all heads share.
Case plain(Layer layer) {
  CaseBuilder b("keys and values of heads");
  Numbers keys{kHeads * kHead, kCell}, values{kHeads * kHead, kCell};
  for (uint32_t row = 0; row < kHeads * kHead; ++row) {
    const uint32_t head = row / kHead, at = row % kHead;
    for (uint32_t i = 0; i < kRank; ++i) {
      if (at < kStill) keys.at(row, i) = layer.keys.at(head * kStill + at, i);
      values.at(row, i) = layer.values.at(row, i);
    }
    if (at >= kStill) keys.at(row, kRank + at - kStill) = 1;
  }
  uint32_t slots = 0;
  const ValueId pages = b.pages(64, 0, slots);
  const ValueId cache = b.graph().kv_cache("cache", DType::kF32, slots, kHeads, kHead);
  const ValueId cell = b.graph().embed(b.tokens(), layer.cells.constant(b, "cells"));
  const ValueId k = b.graph().linear(cell, keys.constant(b, "keys"));
  const ValueId v = b.graph().linear(cell, values.constant(b, "values"));
  const ValueId q = b.graph().embed(b.tokens(), layer.q.constant(b, "q"));
  const ValueId held = b.graph().kv_append(k, v, cache, pages);
  return b.finish(b.graph().attention(q, held, pages, {.scale = kScale}), kSteps, 1e-6);
}

TEST(Latents, AreTheKeysAndValuesThatTheyAreMadeTo) {
  std::mt19937 random(3);
  const Layer layer{.q = Numbers::random(kVocab, kHeads * kHead, random),
                    .cells = Numbers::random(kVocab, kCell, random),
                    .keys = Numbers::random(kHeads * kStill, kRank, random),
                    .values = Numbers::random(kHeads * kHead, kRank, random)};
  const auto cpu = make_cpu_backend();
  const Case absorbed_case = absorbed(layer), plain_case = plain(layer);
  const auto expected = run(plain_case, *cpu), actual = run(absorbed_case, *cpu);
  ASSERT_EQ(actual.results.size(), kSteps.chunks.size());
  expect_close(absorbed_case, expected, actual);
}

}  // namespace
}  // namespace tokamak::parity
