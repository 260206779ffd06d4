// The ops that passes make of norms, rotation and appends in steps of many rows.
#include <numeric>

#include "graph/kv_cache.h"
#include "tune/self_test_writer.h"

namespace tokamak {
namespace {

using Writer = SelfTestWriter;

/// Rows between the products of attention and itself, which reads what was made of them.
void add_rope_append(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  constexpr uint32_t kHeads = 4, kHeadDim = 48;
  for (const DType type : {DType::kF32, DType::kF16, kQ8Cache}) {
    const bool has_norms = type == DType::kF16;
    Writer w(fmt::format("rope_append {} {}/2x{}{}", cache_type_name(type), kHeads, kHeadDim,
                         has_norms ? " norms" : ""),
             RopeAppend::kName);
    const uint32_t positions = std::accumulate(steps.chunks.begin(), steps.chunks.end(), 0u);
    uint32_t slots = 0;
    const ValueId pages = w.pages(positions, slots);
    const ValueId cache = w.graph().kv_cache("cache", type, slots, 2, kHeadDim);
    const RopeAppend op{
        .heads = kHeads, .head_dim = kHeadDim, .norm_v = has_norms, .eps = has_norms ? 1e-5f : 0};
    std::vector<ValueId> inputs = {w.activation((kHeads + 2 * 2) * kHeadDim, 2),
                                   w.random("angles", {positions, kHeadDim - 8}), cache, pages};
    if (has_norms) inputs.push_back(w.random("norms", {2 * kHeadDim}));
    const std::vector<ValueId> made = w.graph().add_node(op, inputs);
    const ValueId y = w.graph().attention(made[0], made[1], pages, {.scale = 0.2f});
    all.push_back(w.finish(y, steps, self_test_attention(type)));
  }
}

/// Four heads and one more, in both forms of their products; what is appended shows in what is
/// read.
void add_latents(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  constexpr uint32_t kHeads = 5, kRank = 40, kTurned = 8;
  for (const bool transposed : {false, true}) {
    Writer w(fmt::format("head_linear {}x24{}", kHeads, transposed ? " transposed" : ""),
             HeadLinear::kName);
    const ValueId x = w.activation(kHeads * 24);
    const ValueId m = w.random("w", {kHeads * 24, 24}, DType::kBF16);
    const HeadLinear op{kHeads, transposed};
    all.push_back(w.finish(w.graph().head_linear(x, m, op), steps, kSelfTestSum));
  }
  for (const DType type : {DType::kF32, DType::kF16}) {
    for (const std::string_view op :
         {LatentAppend::kName, LatentAttention::kName, MergeSplits::kName}) {
      Writer w(fmt::format("{} {}", op, cache_type_name(type)), op);
      const uint32_t positions = std::accumulate(steps.chunks.begin(), steps.chunks.end(), 0u);
      uint32_t slots = 0;
      const ValueId pages = w.pages(positions, slots);
      const ValueId cache = w.graph().latent_cache("cache", type, slots, kRank, kTurned);
      const ValueId latent = w.activation(kRank, 2), turned = w.activation(kTurned, 2);
      const ValueId held = w.graph().latent_append(latent, turned, cache, pages);
      const ValueId ql = w.activation(kHeads * kRank, 2), qr = w.activation(kHeads * kTurned, 2);
      const bool merges = op == MergeSplits::kName;
      const LatentAttention attention{.scale = 0.2f, .splits = merges ? 3u : 1u};
      ValueId y = w.graph().add_node(attention, {ql, qr, held, pages}).front();
      if (merges) y = w.graph().add_node(MergeSplits{kHeads, 3}, {y}).front();
      all.push_back(w.finish(y, steps, self_test_attention(type)));
    }
  }
}

constexpr uint32_t kColumns = 264;

/// A rounded value shows in the columns that a product takes.
ValueId seen(Writer& w, ValueId norm, Half rounded) {
  if (rounded == Half::kNone) return norm;
  const ValueId matrix = w.random("w", {kColumns, kColumns}, half_dtype(rounded));
  return w.graph().add_node(HalfLinear{0, kColumns}, {norm, matrix}).front();
}

}  // namespace

void add_norms_rounded_to(Half type, std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  for (const FusedNorm& op : fused_norms(1e-3f)) {
    if (op.rounded != type || op.summed != op.adds || op.plain) continue;
    Writer w(fmt::format("fused_norm {}{} rounded {} {}", op.centered ? "layer" : "rms",
                         op.adds ? " adds" : "", kHalfNames[size_t(type)], kColumns),
             FusedNorm::kName);
    std::vector<ValueId> inputs = {w.activation(kColumns)};
    if (op.adds) inputs.push_back(w.activation(kColumns));
    inputs.push_back(w.random("weight", {kColumns}));
    const std::vector<ValueId> made = w.graph().add_node(op, inputs);
    ValueId y = seen(w, made[0], type);
    if (op.summed) y = w.graph().add(y, made[1]);
    all.push_back(w.finish(y, steps, kSelfTestSum));
  }
  for (const NormAdd& op : norm_adds(1e-3f, 0.5f)) {
    if (op.rounded != type) continue;
    Writer w(fmt::format("norm_add{}{} rounded {} {}", op.scaled ? " scaled" : "",
                         op.normed ? " normed" : "", kHalfNames[size_t(type)], kColumns),
             NormAdd::kName);
    std::vector<ValueId> inputs = {w.activation(kColumns), w.activation(kColumns),
                                   w.random("weight", {kColumns})};
    if (op.scaled) inputs.push_back(w.random("factor", {1}));
    if (op.normed) inputs.push_back(w.random("norm", {kColumns}));
    const std::vector<ValueId> made = w.graph().add_node(op, inputs);
    ValueId y = seen(w, made[0], type);
    if (op.normed) y = w.graph().add(y, made[1]);
    all.push_back(w.finish(y, steps, kSelfTestSum));
  }
}

void add_row_cases(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  add_rope_append(all, steps);
  add_latents(all, steps);
  add_norms_rounded_to(Half::kNone, all, steps);
}

}  // namespace tokamak
