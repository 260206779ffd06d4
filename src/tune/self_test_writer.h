// Writes a SelfTestCase down, with random constants that are the same in every run.
#pragma once
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "graph/builder.h"
#include "kernels/quant/random_matrix.h"
#include "tune/self_test.h"

namespace tokamak {

/// Token ids of cases are below this.
inline constexpr uint32_t kSelfTestVocab = 17;
/// Columns where any number will do: odd, more than a workgroup has lanes, and the same ones, so
/// that cases share the kernels that make their x and add their results up.
inline constexpr uint32_t kSelfTestHeads = 7, kSelfTestHead = 43;
/// Tolerances, relative to the largest magnitude in a result; tests/parity has the reasons.
inline constexpr double kSelfTestExact = 2e-7, kSelfTestSum = 2e-6, kSelfTestFunction = 4e-6;
inline constexpr double kSelfTestAttention = 2e-5;

/// The tolerance of attention over a cache of that type.
inline double self_test_attention(DType cache) {
  if (cache == DType::kF32) return kSelfTestAttention;
  return cache == DType::kF16 ? 2e-3 : 1.0 / 127;
}

/// Tokens of a phase at most, and of its steps.
struct SelfTestSteps {
  uint32_t max_tokens;
  std::vector<uint32_t> chunks;
};

/// A case in the making: the graph's builder, and its tokens, constants and tables.
class SelfTestWriter {
 public:
  SelfTestWriter(std::string name, std::string_view op) : random_(uint32_t(name.size()) * 7919) {
    case_.name = std::move(name);
    case_.op = op;
    tokens_ = builder_.input("tokens", {kTokens});
  }

  GraphBuilder& graph() { return builder_; }
  ValueId tokens() const { return tokens_; }

  ValueId random(const std::string& name, Shape shape, DType dtype = DType::kF32, float range = 1) {
    const uint64_t columns = uint64_t(shape.back()), rows = element_count(shape, 1) / columns;
    case_.constants[name] = [=, seed = uint32_t(random_())] {
      std::mt19937 random(seed);
      return random_matrix(dtype, rows, columns, range, random);
    };
    return builder_.constant(name, std::move(shape), dtype, Weight{{name}});
  }

  template <typename T>
  ValueId constant(const std::string& name, Shape shape, const std::vector<T>& values) {
    constexpr DType kType = std::is_same_v<T, uint32_t> ? DType::kU32 : DType::kF32;
    case_.constants[name] = [values] {
      const auto bytes = std::as_bytes(std::span(values));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    return builder_.constant(name, std::move(shape), kType, Weight{{name}});
  }

  /// f32 [T, columns], made by an embed.
  ValueId activation(uint32_t columns, float range = 1) {
    return builder_.embed(tokens_, next_x(kSelfTestVocab, columns, range));
  }

  /// f32 [1, columns], for cases of one token: a constant, which takes no kernel to make.
  ValueId row(uint32_t columns, float range = 1) { return next_x(1, columns, range); }

  /// A table that scatters the pages of `positions` positions; `slots` receives the cache's size.
  ValueId pages(uint32_t positions, uint32_t& slots) {
    const uint32_t count = ceil_div(positions, kPageTokens);
    case_.pages.resize(count);
    for (uint32_t i = 0; i < count; ++i) case_.pages[i] = count - 1 - i;
    slots = count * kPageTokens;
    return builder_.input("pages", {Dim{count}});
  }

  SelfTestCase finish(ValueId result, const SelfTestSteps& steps, double tolerance) {
    auto graph = builder_.finish(result);
    TOK_CHECK(graph.has_value());
    case_.graph = *std::move(graph);
    case_.max_tokens = steps.max_tokens;
    case_.chunks = steps.chunks;
    case_.tolerance = tolerance;
    return std::move(case_);
  }

 private:
  ValueId next_x(uint32_t rows, uint32_t columns, float range) {
    return random(fmt::format("x{}", count_++), {rows, columns}, DType::kF32, range);
  }

  GraphBuilder builder_;
  SelfTestCase case_;
  std::mt19937 random_;
  ValueId tokens_ = {};
  uint32_t count_ = 0;
};

/// Cases of what encoders have beside the ops of decoders.
void add_encoder_cases(std::vector<SelfTestCase>& all, const SelfTestSteps& steps);
/// Cases of norms that passes make, with results of that type.
void add_norms_rounded_to(Half type, std::vector<SelfTestCase>& all, const SelfTestSteps& steps);
/// Cases around the products of a vendor's library; none where there is none.
void add_library_cases(std::vector<SelfTestCase>& all, const SelfTestSteps& steps);
/// Cases of what passes make for steps of many rows, without a product.
void add_row_cases(std::vector<SelfTestCase>& all, const SelfTestSteps& steps);
/// Cases of routing and of products by chosen experts.
void add_experts(std::vector<SelfTestCase>& all, const SelfTestSteps& steps);
/// Cases in which rows have experts of their own, as in steps of a few of them.
void add_many_experts(std::vector<SelfTestCase>& all, const SelfTestSteps& steps);
/// Cases of what passes make for steps of one token.
void add_token_cases(std::vector<SelfTestCase>& all);
/// Cases of what has a state.
void add_recurrent(std::vector<SelfTestCase>& all, const SelfTestSteps& steps);
/// Cases of low-rank adapters.
void add_lora_cases(std::vector<SelfTestCase>& all, const SelfTestSteps& steps);

}  // namespace tokamak
