#include "tune/self_test_writer.h"

namespace tokamak {
namespace {

using Writer = SelfTestWriter;
constexpr uint32_t kColumns = kSelfTestHeads * kSelfTestHead;

/// Both ways, with scores that depend on the distance, which is farther than the table goes.
SelfTestCase biased_attention(const SelfTestSteps& steps) {
  constexpr uint32_t kHeads = 4, kHeadDim = 16, kRadius = 11;
  Writer w(fmt::format("attention {}x{} with a bias", kHeads, kHeadDim), Attention::kName);
  uint32_t positions = 0, slots = 0;
  for (const uint32_t chunk : steps.chunks) positions += chunk;
  const ValueId pages = w.pages(positions, slots);
  const ValueId cache = w.graph().kv_cache("cache", DType::kF32, slots, kHeads, kHeadDim);
  const uint32_t columns = kHeads * kHeadDim;
  const ValueId q = w.activation(columns), k = w.activation(columns), v = w.activation(columns);
  const ValueId bias = w.random("bias", {2 * kRadius + 1, kHeads});
  const ValueId kv = w.graph().kv_append(k, v, cache, pages);
  const Attention op{.scale = 0.3f, .causal = false};
  return w.finish(w.graph().attention(q, kv, pages, op, bias), steps, 10 * kSelfTestSum);
}

/// A window or chunks, grouped heads and a sink for each.
SelfTestCase attention_with_sinks(const SelfTestSteps& steps, bool chunks) {
  constexpr uint32_t kHeads = 4, kHeadDim = 16;
  Writer w(
      fmt::format("attention {}x{} with sinks{}", kHeads, kHeadDim, chunks ? " in chunks" : ""),
      Attention::kName);
  uint32_t positions = 0, slots = 0;
  for (const uint32_t chunk : steps.chunks) positions += chunk;
  const ValueId pages = w.pages(positions, slots);
  const ValueId cache = w.graph().kv_cache("cache", DType::kF32, slots, kHeads / 2, kHeadDim);
  const ValueId q = w.activation(kHeads * kHeadDim);
  const ValueId k = w.activation(kHeads * kHeadDim / 2), v = w.activation(kHeads * kHeadDim / 2);
  const ValueId sinks = w.random("sinks", {kHeads}, DType::kF32, 3);
  const ValueId kv = w.graph().kv_append(k, v, cache, pages);
  const Attention op{.scale = 0.3f, .window = 21, .chunks = chunks};
  return w.finish(w.graph().attention(q, kv, pages, op, sinks), steps, 10 * kSelfTestSum);
}

void add_norm_and_positions(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  {
    Writer w(fmt::format("layer_norm {} x {}", kSelfTestHeads, kSelfTestHead), LayerNorm::kName);
    const ValueId x = w.activation(kColumns), weight = w.random("w", {kSelfTestHead});
    const ValueId bias = w.random("bias", {kSelfTestHead});
    const ValueId y = w.graph().layer_norm(x, weight, 1e-3f, bias);
    all.push_back(w.finish(y, steps, kSelfTestSum));
  }
  for (const Activation activation : kActivations) {
    Writer w(fmt::format("activate {} {}", activation_name(activation), kColumns), Activate::kName);
    const ValueId x = w.activation(kColumns, 500);
    all.push_back(w.finish(w.graph().activate(activation, x), steps, kSelfTestFunction));
  }
  {
    Writer w(fmt::format("add_positions {}", kColumns), AddPositions::kName);
    const ValueId x = w.activation(kColumns), table = w.random("table", {80, kColumns});
    all.push_back(w.finish(w.graph().add_positions(x, table, 2), steps, kSelfTestExact));
  }
  {
    Writer w(fmt::format("position_scale {}", kColumns), PositionScale::kName);
    const ValueId x = w.activation(kColumns);
    const PositionScale op{.beta = 0.3f, .period = 5, .shift = 1};
    all.push_back(w.finish(w.graph().add_node(op, {x}).front(), steps, kSelfTestFunction));
  }
  {
    Writer w(fmt::format("first_row {}", kColumns), FirstRow::kName);
    const ValueId x = w.activation(kColumns, 3);
    all.push_back(w.finish(w.graph().first_row(x), steps, kSelfTestExact));
  }
  {
    Writer w(fmt::format("rope {} x {} by rows of the step", kSelfTestHeads, kSelfTestHead),
             Rope::kName);
    const ValueId x = w.activation(kColumns), angles = w.activation(6);
    all.push_back(w.finish(w.graph().rope(x, angles, kSelfTestHead), steps, kSelfTestSum));
  }
  {
    constexpr uint32_t kHeads = 3, kHeadDim = 20;  // of which 16 elements turn, in fours
    Writer w("rope 3 x 20 turning 16", Rope::kName);
    const RopeTable recipe{{1, 0.5f, 0.1f, 0.05f, 0.02f, 0.01f, 0.005f, 0.002f}, 1.25f};
    const ValueId table = w.constant("table", {80, 16}, rope_table(recipe, 80));
    const ValueId x = w.activation(kHeads * kHeadDim);
    all.push_back(w.finish(w.graph().rope(x, table, kHeadDim), steps, kSelfTestSum));
  }
}

/// Steps of a model on several devices.
void add_collectives(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  {
    Writer w(fmt::format("all_reduce {}", kColumns), AllReduce::kName);
    const ValueId x = w.activation(2 * kColumns), r = w.activation(kColumns, 2);
    const AllReduce op{.ranks = 2, .parts = 2};
    all.push_back(w.finish(w.graph().add_node(op, {x, r}).front(), steps, kSelfTestSum));
  }
  {
    Writer w(fmt::format("all_reduce_norm {}", kColumns), AllReduceNorm::kName);
    const ValueId x = w.activation(2 * kColumns), r = w.activation(kColumns, 2);
    const AllReduceNorm op{.ranks = 2, .parts = 2, .eps = 1e-3f};
    const auto both = w.graph().add_node(op, {x, r, w.random("w", {kColumns})});
    const ValueId norm = w.graph().scale(both[1], 0.7f);
    all.push_back(w.finish(w.graph().add(both[0], norm), steps, kSelfTestSum));
  }
  {
    Writer w(fmt::format("all_gather {}", kColumns), AllGather::kName);
    const ValueId x = w.activation(kColumns);
    const AllGather op{.ranks = 2, .columns = 2 * kColumns};
    all.push_back(w.finish(w.graph().add_node(op, {x}).front(), steps, kSelfTestExact));
  }
  {
    Writer w(fmt::format("all_norm {}", kColumns), AllNorm::kName);
    const ValueId x = w.activation(kColumns), y = w.activation(kColumns, 2);
    const AllNorm op{
        .ranks = 2, .columns = 2 * kColumns, .other_columns = 2 * kColumns, .eps = 1e-3f};
    const ValueId weight = w.random("w", {kColumns}), other = w.random("v", {kColumns});
    const auto both = w.graph().add_node(op, {x, weight, y, other});
    const ValueId norm = w.graph().scale(both[1], 0.7f);
    all.push_back(w.finish(w.graph().add(both[0], norm), steps, kSelfTestSum));
  }
}

/// Sounds: convolutions, and what is between them.
void add_convolutions(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  {
    Writer w("unfold 90 x 7", Unfold::kName);
    const Unfold op{.taps = 5, .stride = 2, .pad = 3};
    all.push_back(w.finish(w.graph().unfold(w.random("x", {90, 7}), op), steps, kSelfTestExact));
  }
  {
    Writer w(fmt::format("group_norm {}", kColumns), GroupNorm::kName);
    const ValueId x = w.activation(kColumns), weight = w.random("w", {kColumns});
    const ValueId y = w.graph().group_norm(x, weight, w.random("bias", {kColumns}), 1e-3f);
    all.push_back(w.finish(y, steps, kSelfTestSum));
  }
  {
    Writer w(fmt::format("standardize {}", kColumns), Standardize::kName);
    const ValueId x = w.activation(kColumns), mean = w.random("mean", {kColumns});
    const ValueId y = w.graph().standardize(x, mean, w.random("by", {kColumns}));
    all.push_back(w.finish(y, steps, kSelfTestExact));
  }
  {
    Writer w(fmt::format("clamp {}", kColumns), Clamp::kName);
    const ValueId x = w.activation(kColumns, 3);
    all.push_back(w.finish(w.graph().clamp(x, -1, 1), steps, kSelfTestExact));
  }
  {
    Writer w(fmt::format("half_snake {}", kColumns), HalfSnake::kName);
    const ValueId x = w.activation(kColumns, 20), rates = w.random("rates", {kColumns / 2});
    all.push_back(w.finish(w.graph().half_snake(x, rates), steps, kSelfTestFunction));
  }
  {
    Writer w("causal_conv 38 to 35 with a snake and a sum", CausalConv::kName);
    const ValueId x = w.activation(38), weight = w.random("w", {35, 38 * 7});
    const ValueId bias = w.random("bias", {35}), rates = w.random("rates", {19});
    const CausalConv op = {.dilation = 3, .snake = true, .adds = true};
    const ValueId y = w.graph().add_node(op, {x, weight, bias, rates, w.activation(35)}).front();
    all.push_back(w.finish(y, steps, kSelfTestFunction));
  }
  {
    Writer w("transposed_conv 38 to 19", TransposedConv::kName);
    const ValueId x = w.activation(38), weight = w.random("w", {38, 10});
    const ValueId y = w.graph().transposed_conv(x, weight, w.random("bias", {19}));
    all.push_back(w.finish(y, steps, kSelfTestSum));
  }
}

}  // namespace

void add_encoder_cases(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  add_norm_and_positions(all, steps);
  add_collectives(all, steps);
  add_convolutions(all, steps);
  all.push_back(biased_attention(steps));
  for (const bool chunks : {false, true}) all.push_back(attention_with_sinks(steps, chunks));
}

}  // namespace tokamak
