// The smallest model, for the tests of devices: y = W x, x an embedding, in f16.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "backend/backend.h"
#include "base/bits.h"

namespace tokamak {

inline constexpr uint32_t kTinyVocab = 5, kTinyWidth = 13, kTinyRows = 3;

/// Element i of the constant `name`.
inline float tiny_value(std::string_view name, size_t i) {
  return float((i * 7 + name.size()) % 11) - 5;
}

/// The result for one token, exact: all values are small integers.
inline std::vector<float> tiny_result(uint32_t token) {
  std::vector<float> y(kTinyRows);
  for (size_t row = 0; row < kTinyRows; ++row) {
    for (size_t i = 0; i < kTinyWidth; ++i) {
      y[row] += tiny_value("table", token * kTinyWidth + i) * tiny_value("w", row * kTinyWidth + i);
    }
  }
  return y;
}

inline Plan tiny_plan(const DeviceInfo& device, uint32_t vocab = kTinyVocab) {
  const auto weight = [](std::string name, Dim rows) {
    return TensorDesc{.name = name,
                      .shape = {rows, kTinyWidth},
                      .dtype = DType::kF16,
                      .storage = Storage::kConstant,
                      .recipe = Weight{{name}}};
  };
  Graph graph;
  graph.values = {
      {.name = "tokens", .shape = {kTokens}, .dtype = DType::kU32, .storage = Storage::kInput},
      weight("table", Dim(vocab)),
      weight("w", kTinyRows),
      {.name = {}, .shape = {kTokens, kTinyWidth}},
      {.name = {}, .shape = {kTokens, kTinyRows}}};
  graph.nodes = {{Embed{}, {ValueId{0}, ValueId{1}}, {ValueId{3}}},
                 {Linear{}, {ValueId{3}, ValueId{2}}, {ValueId{4}}}};
  graph.result = ValueId{4};
  auto plan = capture(graph, device, {.phases = {{"prefill", 4}, {"decode", 1}}, .forced = {}});
  EXPECT_TRUE(plan) << plan.error().message;
  return *std::move(plan);
}

/// Gives `piece` bytes at a time, a multiple of 4; the shares take turns.
inline ConstantReader tiny_reader(size_t piece = 64) {
  return [piece](const TensorDesc& tensor, Share share, const auto& write) -> Result<void> {
    std::vector<uint16_t> halves(size_t(element_count(tensor.shape, 1)));
    for (size_t i = 0; i < halves.size(); ++i) halves[i] = f32_to_f16(tiny_value(tensor.name, i));
    const auto bytes = std::as_bytes(std::span(halves));
    for (size_t at = share.index * piece; at < bytes.size(); at += share.count * piece) {
      TOK_TRY(write(at, bytes.subspan(at, std::min(piece, bytes.size() - at))));
    }
    return {};
  };
}

/// A request for one token of the decode phase.
inline StepRequest tiny_step(const uint32_t& token, auto done) {
  return {.phase = 1, .slots = {{}}, .tokens = {&token, 1}, .done = std::move(done)};
}

}  // namespace tokamak
