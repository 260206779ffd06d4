#include "cases.h"

#include <functional>

#include "kernels/rope/rope.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

std::vector<Case> embed_cases() {
  std::vector<Case> all;
  for (const DType dtype : kWeights) {
    for (const uint32_t columns : {1u, 7u, 128u, 300u}) {
      for (const Steps& steps : {kOneByOne, kChunks}) {
        CaseBuilder b(fmt::format("embed {} {} {}", dtype_name(dtype), columns, label(steps)));
        const ValueId table = b.random("table", {kVocab, columns}, dtype);
        const ValueId y = b.graph().add_node(Embed{2.5f}, {ValueId{0}, table}).front();
        all.push_back(b.finish(y, steps, kExact));
      }
    }
  }
  for (const DType dtype : packed_types()) {
    CaseBuilder b(fmt::format("embed {}", dtype_name(dtype)));
    const ValueId table = b.random("table", {kVocab, 5 * weight_format(dtype).row_unit()}, dtype);
    const ValueId y = b.graph().add_node(Embed{2.5f}, {ValueId{0}, table}).front();
    all.push_back(b.finish(y, kChunks, kExact));
  }
  // The last tokens are beyond the table, and the other table begins again for some of them.
  for (const DType dtype : {DType::kF32, DType::kQ8_0}) {
    CaseBuilder b(fmt::format("embed {} and rows beyond", dtype_name(dtype)));
    const ValueId table = b.random("table", {kVocab - 9, 288}, dtype);
    const ValueId rows = b.random("rows", {5, 288});
    all.push_back(b.finish(b.graph().embed(b.tokens(), table, rows, 2.5f), kChunks, kExact));
  }
  return all;
}

struct NormShape {
  uint32_t groups, size;
};

std::vector<Case> rms_norm_cases() {
  std::vector<Case> all;
  for (const NormShape shape :
       std::vector<NormShape>{{1, 1}, {1, 7}, {3, 33}, {4, 32}, {2, 256}, {1, 640}, {1, 2050}}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      for (const bool last : {false, true}) {
        CaseBuilder b(fmt::format("rms_norm {}x{}{} {}", shape.groups, shape.size,
                                  last ? " of the last row" : "", label(steps)));
        ValueId x = b.activation(shape.groups * shape.size);
        if (last) x = b.graph().last_row(x);
        const ValueId w = b.random("w", {shape.size}, DType::kF32, 2);
        all.push_back(b.finish(b.graph().rms_norm(x, w, 1e-3f), steps, kSum));
      }
    }
  }
  return all;
}

std::vector<Case> add_rms_norm_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 33u, 256u, 640u, 2050u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("add_rms_norm {} {}", columns, label(steps)));
      ValueId x = b.activation(columns), y = b.activation(columns);
      if (columns == 256) {  // once on a single row, whatever the tokens of the step
        x = b.graph().last_row(x);
        y = b.graph().last_row(y);
      }
      const ValueId w = b.random("w", {columns}, DType::kF32, 2);
      const auto both = b.graph().add_node(AddRmsNorm{1e-3f}, {x, y, w});
      const ValueId norm = b.graph().scale(both[1], 0.7f);
      all.push_back(b.finish(b.graph().add(both[0], norm), steps, kSum));
    }
  }
  for (const uint32_t columns : {33u, 640u}) {
    CaseBuilder b(fmt::format("add_rms_norm {} of 4 parts {}", columns, label(kChunks)));
    const ValueId parts = b.activation(4 * columns), y = b.activation(columns);
    const ValueId w = b.random("w", {columns}, DType::kF32, 2);
    const auto both = b.graph().add_node(AddRmsNorm{1e-3f, 4}, {parts, y, w});
    const ValueId norm = b.graph().scale(both[1], 0.7f);
    all.push_back(b.finish(b.graph().add(both[0], norm), kChunks, kSum));
  }
  return all;
}

/// Ops on elements: `make` gets two activations in [-range, range].
std::vector<Case> element_cases(
    const std::string& op, float range, double tolerance,
    const std::function<ValueId(GraphBuilder&, ValueId, ValueId)>& make) {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 128u, 301u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("{} of {} up to {} {}", op, columns, range, label(steps)));
      const ValueId x = b.activation(columns, range), y = b.activation(columns);
      const ValueId result = make(b.graph(), x, y);
      all.push_back(b.finish(result, steps, tolerance));
    }
  }
  return all;
}

/// Every activation, near zero and far from it.
std::vector<Case> activation_cases(
    std::string_view op,
    const std::function<ValueId(GraphBuilder&, Activation, ValueId, ValueId)>& make) {
  std::vector<Case> all;
  for (const Activation activation : kActivations) {
    for (const float range : {4.f, 500.f}) {
      const auto some = element_cases(
          fmt::format("{} {}", op, activation_name(activation)), range, kFunction,
          [&](GraphBuilder& g, ValueId x, ValueId y) { return make(g, activation, x, y); });
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}

std::vector<Case> softcap_cases() {
  std::vector<Case> all;
  for (const float range : {4.f, 5000.f}) {
    const auto some =
        element_cases("softcap", range, kFunction,
                      [](GraphBuilder& g, ValueId x, ValueId) { return g.softcap(x, 30); });
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Case scale_by_constant_case(const Steps& steps) {
  CaseBuilder b(fmt::format("scale by a constant {}", label(steps)));
  const ValueId x = b.activation(131, 3), s = b.random("s", {1});
  return b.finish(b.graph().scale(x, 0.7f, s), steps, kExact);
}

struct RopeShape {
  uint32_t heads, head_dim, rotary;
};

/// A table of two parts, the second for sequences beyond 20 tokens: some steps read each.
Case two_part_rope_case() {
  CaseBuilder b("rope 2x8 with a second part");
  const uint32_t short_rows = 20, context = 400;
  const RopeTable recipe{{1.0f, 0.5f, 0.1f, 0.01f}, 1, short_rows, {0.9f, 0.4f, 0.2f, 0.05f}};
  const uint32_t rows = short_rows + context;
  const ValueId table = b.constant("table", {rows, 8}, rope_table(recipe, rows));
  const ValueId x = b.activation(16);
  const ValueId y = b.graph().rope(x, table, 8, short_rows);
  return b.finish(y, kChunks, kSum);
}

std::vector<Case> rope_cases() {
  std::vector<Case> all;
  for (const RopeShape shape : std::vector<RopeShape>{
           {1, 2, 2}, {3, 6, 4}, {2, 64, 64}, {5, 80, 24}, {5, 80, 20}, {1, 256, 256}}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("rope {}x{} turning {} {}", shape.heads, shape.head_dim,
                                shape.rotary, label(steps)));
      RopeTable recipe{{}, 1.25f};
      for (uint32_t i = 0; i < shape.rotary / 2; ++i) {
        recipe.inverse_frequencies.push_back(1.0f / float(1 + i * i));
      }
      const uint32_t context = 400;
      const ValueId table =
          b.constant("table", {context, shape.rotary}, rope_table(recipe, context));
      const ValueId x = b.activation(shape.heads * shape.head_dim);
      all.push_back(b.finish(b.graph().rope(x, table, shape.head_dim), steps, kSum));
    }
  }
  all.push_back(two_part_rope_case());
  CaseBuilder b("rope 3x16 turning 12 by angles of the rows");
  const ValueId x = b.activation(48), angles = b.activation(12);
  all.push_back(b.finish(b.graph().rope(x, angles, 16), kChunks, kSum));
  return all;
}

struct AttentionShape {
  uint32_t heads, kv_heads, head_dim;
  uint32_t radius = 0;  // of the bias by distance; 0: none
  Half rounded = Half::kNone;
  float sinks = 0;  // the largest; 0: none
  bool chunks = false;
};

Case attention_case(AttentionShape shape, uint32_t window, float softcap, DType cache_type,
                    const Steps& steps, bool causal = true, float range = 2, float values = 1) {
  CaseBuilder b(fmt::format(
      "attention {}/{}x{} window {} softcap {} {} {}{} range {} values {}{}{}{}{}", shape.heads,
      shape.kv_heads, shape.head_dim, window, softcap, cache_type_name(cache_type), label(steps),
      causal ? "" : " both ways", range, values,
      shape.radius > 0 ? fmt::format(" radius {}", shape.radius) : "",
      shape.rounded == Half::kNone ? "" : fmt::format(" {}", kHalfNames[size_t(shape.rounded)]),
      shape.sinks > 0 ? fmt::format(" sinks {}", shape.sinks) : "",
      shape.chunks ? " in chunks" : ""));
  uint32_t positions = 0, slots = 0;
  for (const uint32_t chunk : steps.chunks) positions += chunk;
  const ValueId pages = b.pages(positions, window == 0 ? 0 : window + steps.max_tokens, slots);
  const ValueId cache =
      b.graph().kv_cache("cache", cache_type, slots, shape.kv_heads, shape.head_dim, window);
  const uint32_t kv_columns = shape.kv_heads * shape.head_dim;
  const ValueId q = b.activation(shape.heads * shape.head_dim, range);
  const ValueId k = b.activation(kv_columns, 2), v = b.activation(kv_columns, values);
  const ValueId kv = b.graph().kv_append(k, v, cache, pages);
  std::optional<ValueId> bias;
  if (shape.radius > 0)
    bias = b.random("bias", {2 * shape.radius + 1, shape.heads}, DType::kF32, 3);
  if (shape.sinks > 0) bias = b.random("sinks", {shape.heads}, DType::kF32, shape.sinks);
  const ValueId y = b.graph().attention(q, kv, pages,
                                        {.scale = 1.5f / std::sqrt(float(shape.head_dim)),
                                         .window = window,
                                         .chunks = shape.chunks,
                                         .softcap = softcap,
                                         .causal = causal,
                                         .rounded = shape.rounded},
                                        bias);
  if (shape.rounded == Half::kNone) return b.finish(y, steps, attention_tolerance(cache_type));
  const ValueId w = b.random("w", {16, shape.heads * shape.head_dim}, half_dtype(shape.rounded));
  const ValueId sums = b.graph().add_node(HalfLinear{.first = 0, .rows = 16}, {y, w}).front();
  return b.finish(sums, steps, attention_tolerance(cache_type) + 3 * 0x1p-8);
}

// 233 positions: blocks of keys and the pages of windows wrap.
const Steps kLongChunks = {80, {3, 17, 64, 1, 1, 80, 65, 2}};
const Steps kManyTokens = {1, std::vector<uint32_t>(70, 1)};
// A whole sequence is one step where attention looks both ways.
const Steps kWhole = {150, {150}}, kShort = {150, {9}};

/// Every shape and window once with each type of cache, once with each kind of step.
std::vector<Case> attention_cases() {
  std::vector<Case> all;
  const AttentionShape shapes[] = {{1, 1, 2},   {4, 2, 4},   {8, 1, 64}, {6, 3, 80}, {2, 2, 128},
                                   {4, 1, 256}, {2, 1, 512}, {2, 1, 52}, {2, 2, 72}};
  bool turn = false;
  for (const DType cache : {DType::kF32, DType::kF16}) {
    for (const AttentionShape shape : shapes) {
      turn = !turn;
      all.push_back(attention_case(shape, 0, 0, cache, turn ? kManyTokens : kLongChunks));
    }
    for (const uint32_t window : {1u, 5u, 16u, 40u}) {
      turn = !turn;
      all.push_back(attention_case({4, 2, 16}, window, 0, cache, turn ? kManyTokens : kLongChunks));
    }
    all.push_back(attention_case({2, 1, 64}, 24, 3, cache, kManyTokens));
    all.push_back(attention_case({2, 1, 256}, 0, 0.5f, cache, kLongChunks));
    for (const uint32_t window : {0u, 1u, 5u, 40u, 149u, 200u}) {
      all.push_back(attention_case({4, 2, 16}, window, 0, cache, kWhole, false));
    }
    all.push_back(attention_case({2, 1, 256}, 17, 3, cache, kShort, false));
    all.push_back(attention_case({3, 1, 6}, 0, 0, cache, kWhole, false));
    all.push_back(attention_case({2, 2, 36}, 0, 0, cache, kWhole, false));
    all.push_back(attention_case({2, 2, 72}, 0, 0, cache, kWhole, false));
    // A bias by distance, whose table ends within the sequence or beyond it.
    all.push_back(attention_case({4, 4, 8, 128}, 0, 0, cache, kWhole, false));
    all.push_back(attention_case({4, 2, 16, 5}, 40, 3, cache, kWhole, false));
    all.push_back(attention_case({2, 1, 64, 400}, 0, 0, cache, kManyTokens));
    all.push_back(attention_case({6, 3, 80, 20}, 0, 0, cache, kLongChunks));
    // Sinks among the scores, above them all, and too far below to count.
    all.push_back(attention_case({4, 2, 16, 0, Half::kNone, 4}, 24, 0, cache, kManyTokens));
    all.push_back(attention_case({8, 1, 64, 0, Half::kNone, 30}, 0, 3, cache, kLongChunks));
    all.push_back(attention_case({6, 3, 80, 0, Half::kNone, 1e30f}, 40, 0, cache, kLongChunks));
    // Scores far apart: the largest of a row turns up after others that count for nothing then.
    all.push_back(attention_case({4, 2, 64}, 40, 0, cache, kLongChunks, true, 5));
    all.push_back(attention_case({4, 1, 128}, 40, 0, cache, kWhole, true, 5));
  }
  for (const DType cache : {DType::kF32, DType::kF16, kQ8Cache}) {
    add_attention_to_parts(all, cache, kWhole, kOneByOne);
    // Steps that begin in one chunk and end in another.
    constexpr AttentionShape kChunks = {.heads = 4, .kv_heads = 2, .head_dim = 16, .chunks = true};
    all.push_back(attention_case(kChunks, 40, 0, cache, kLongChunks));
    all.push_back(attention_case(kChunks, 24, 0, cache, kManyTokens));
  }
  for (const DType cache : {DType::kF16, kQ8Cache}) {
    all.push_back(attention_case({4, 2, 16, 0, Half::kBf16}, 0, 0, cache, kLongChunks));
    all.push_back(attention_case({2, 2, 36, 0, Half::kF16}, 0, 0, cache, kWhole, false));
  }
  // Heads that subgroups share, whole and with columns left over.
  all.push_back(attention_case({4, 2, 512}, 0, 0, DType::kF16, kLongChunks));
  all.push_back(attention_case({3, 1, 296}, 24, 3, DType::kF16, kLongChunks));
  all.push_back(attention_case({2, 2, 140}, 0, 0, DType::kF16, kWhole, false));
  all.push_back(attention_case({4, 2, 4}, 0, 0, kQ8Cache, kLongChunks));
  all.push_back(attention_case({8, 1, 64}, 0, 0, kQ8Cache, kManyTokens));
  all.push_back(attention_case({6, 3, 80}, 40, 0, kQ8Cache, kLongChunks));
  all.push_back(attention_case({2, 1, 256}, 24, 3, kQ8Cache, kManyTokens));
  all.push_back(attention_case({4, 1, 128}, 40, 0, kQ8Cache, kWhole, true, 5));
  all.push_back(attention_case({4, 2, 16}, 5, 0, kQ8Cache, kWhole, false));
  return all;
}

struct PreparedShape {
  uint32_t heads, kv_heads, head_dim, rotary;
  bool norms = false, norm_v = false, k_is_v = false;
  uint32_t short_rows = 0;
};

/// The turned and the appended elements show in what attention reads. The row has columns more.
Case rope_append_case(PreparedShape shape, DType cache_type, const Steps& steps) {
  CaseBuilder b(fmt::format(
      "rope_append {}/{}x{} turning {}{}{}{}{} {} {}", shape.heads, shape.kv_heads, shape.head_dim,
      shape.rotary, shape.norms ? " norms" : "", shape.norm_v ? " of values" : "",
      shape.k_is_v ? " that are keys" : "", shape.short_rows > 0 ? " two parts" : "",
      cache_type_name(cache_type), label(steps)));
  uint32_t positions = 0, slots = 0;
  for (const uint32_t chunk : steps.chunks) positions += chunk;
  const uint32_t d = shape.head_dim, rows = positions + shape.short_rows;
  const ValueId pages = b.pages(positions, 0, slots);
  const ValueId cache = b.graph().kv_cache("cache", cache_type, slots, shape.kv_heads, d);
  const RopeAppend op = {.heads = shape.heads,
                         .head_dim = d,
                         .short_rows = shape.short_rows,
                         .k_is_v = shape.k_is_v,
                         .norm_v = shape.norm_v,
                         .eps = shape.norms ? 1e-3f : 0};
  const uint32_t parts = shape.k_is_v ? 1 : 2;
  std::vector<ValueId> inputs = {b.activation((shape.heads + parts * shape.kv_heads) * d + 4, 2),
                                 b.random("angles", {rows, shape.rotary}), cache, pages};
  if (shape.norms) inputs.push_back(b.random("norms", {2 * d}));
  const std::vector<ValueId> made = b.graph().add_node(op, inputs);
  return b.finish(b.graph().attention(made[0], made[1], pages, {.scale = 0.3f}), steps,
                  attention_tolerance(cache_type));
}

std::vector<Case> rope_append_cases() {
  std::vector<Case> all;
  const PreparedShape shapes[] = {{4, 2, 64, 64},
                                  {6, 3, 80, 32},
                                  {8, 1, 256, 256, true},
                                  {4, 1, 256, 64, true},
                                  {2, 1, 512, 512, true, true},
                                  {3, 3, 8, 8, true, true, true},
                                  {2, 2, 96, 96, false, false, false, 40},
                                  {4, 2, 128, 128, true, false, true, 300}};
  for (size_t i = 0; i < std::size(shapes); ++i) {
    const DType cache = i % 2 == 0 ? DType::kF32 : DType::kF16;
    all.push_back(rope_append_case(shapes[i], cache, i % 4 < 2 ? kManyTokens : kLongChunks));
    if (i % 2 == 1) all.push_back(rope_append_case(shapes[i], kQ8Cache, kManyTokens));
  }
  for (const uint32_t rotary : {256u, 64u}) {
    CaseBuilder b(fmt::format("rope_append of queries 4x256 turning {}", rotary));
    const RopeAppend op = {.heads = 4, .head_dim = 256, .appends = false, .eps = 1e-3f};
    const ValueId angles = b.random("angles", {400, rotary});
    const ValueId y =
        b.graph().add_node(op, {b.activation(1024, 2), angles, b.random("norms", {256})}).front();
    all.push_back(b.finish(y, kLongChunks, kSum));
  }
  return all;
}

/// Who sees but its own position gets its value as the cache has rounded it.
Case q8_rounding_case(AttentionShape shape, const Steps& steps) {
  CaseBuilder b(fmt::format("kv_append q8 of half steps {}x{} {}", shape.kv_heads, shape.head_dim,
                            label(steps)));
  uint32_t positions = 0, slots = 0;
  for (const uint32_t chunk : steps.chunks) positions += chunk;
  const ValueId pages = b.pages(positions, 0, slots);
  const ValueId cache =
      b.graph().kv_cache("cache", kQ8Cache, slots, shape.kv_heads, shape.head_dim);
  const uint32_t columns = shape.kv_heads * shape.head_dim;
  const ValueId table =
      b.constant("values", {kVocab, Dim{columns}}, half_steps(columns, shape.head_dim));
  const ValueId values = b.graph().embed(b.tokens(), table);
  const ValueId kv = b.graph().kv_append(b.activation(columns, 2), values, cache, pages);
  const ValueId y = b.graph().attention(b.activation(shape.heads * shape.head_dim, 2), kv, pages,
                                        {.scale = 0.2f, .window = 1});
  return b.finish(y, steps, kExact);
}

/// The appended elements show in what attention reads.
std::vector<Case> kv_append_cases() {
  std::vector<Case> all;
  for (const DType cache : {DType::kF32, DType::kF16}) {
    for (const Steps& steps : {kManyTokens, kLongChunks}) {
      all.push_back(attention_case({1, 1, 2}, 0, 0, cache, steps));
      all.push_back(attention_case({3, 3, 70}, 20, 0, cache, steps));
    }
  }
  // Values beyond the largest f16.
  for (const DType cache : {DType::kF16, kQ8Cache}) {
    all.push_back(attention_case({2, 1, 16}, 0, 0, cache, kManyTokens, true, 2, 1e6f));
  }
  for (const Steps& steps : {kManyTokens, kLongChunks}) {
    all.push_back(attention_case({3, 3, 20}, 20, 0, kQ8Cache, steps));
    all.push_back(q8_rounding_case({3, 3, 20}, steps));
  }
  all.push_back(q8_rounding_case({1, 1, 256}, kWhole));
  return all;
}

}  // namespace

std::vector<Case> cases_of(std::string_view op) {
  if (op == "embed") return embed_cases();
  if (op == "linear") return linear_cases();
  if (op == "qkv") return qkv_cases();
  if (op == "split_linear") return split_linear_cases();
  if (op == "linear_glu") return linear_glu_cases();
  if (op == "rms_norm") return rms_norm_cases();
  if (op == "add_rms_norm") return add_rms_norm_cases();
  if (op == "layer_norm") return layer_norm_cases();
  if (op == "activate") {
    return activation_cases(
        op, [](GraphBuilder& g, Activation a, ValueId x, ValueId) { return g.activate(a, x); });
  }
  if (op == "add_positions") return add_positions_cases();
  if (op == "unfold") return unfold_cases();
  if (op == "half_snake") return half_snake_cases();
  if (op == "causal_conv") return causal_conv_cases();
  if (op == "transposed_conv") return transposed_conv_cases();
  if (op == "group_norm") return group_norm_cases();
  if (op == "to_half") return to_half_cases();
  if (op == "fused_norm") return fused_norm_cases();
  if (op == "norm_add") return norm_add_cases();
  if (op == "half_linear") return half_linear_cases();
  if (op == "pair_glu") return pair_glu_cases();
  if (op == "gated_half") return gated_half_cases();
  if (op == "lora_down" || op == "lora_up") return lora_cases(op);
  if (std::vector<Case> latent = latent_cases(op); !latent.empty()) return latent;
  if (op == "rope") return rope_cases();
  if (op == "attention") return attention_cases();
  if (op == "kv_append") return kv_append_cases();
  if (op == "rope_append") return rope_append_cases();
  if (op == "gather_columns") return gather_columns_cases();
  if (op == "short_conv") return short_conv_cases();
  if (op == "gated_delta") return gated_delta_cases();
  if (op == "selective_scan") return selective_scan_cases();
  if (op == "route") return route_cases();
  if (op == "expert_linear") return expert_linear_cases();
  if (op == "expert_glu") return expert_glu_cases();
  if (op == "expert_mix") return expert_mix_cases();
  if (op == "expert_columns") return expert_columns_cases();
  if (op == "expert_sum") return expert_sum_cases();
  if (op == "fused_linear") return fused_linear_cases();
  if (op == "gated_ffn") return gated_ffn_cases();
  if (op == "step_attention") return step_attention_cases();
  if (op == "block_argmax") return block_argmax_cases();
  if (op == "next_token") return next_token_cases();
  if (op == "block_maxima") return block_maxima_cases();
  if (op == "topk_blocks") return topk_blocks_cases();
  if (op == "topk_tokens") return topk_tokens_cases();
  if (op == "sample_token") return sample_token_cases();
  if (op == "glu") {
    auto all = activation_cases(
        op, [](GraphBuilder& g, Activation a, ValueId x, ValueId y) { return g.glu(a, x, y); });
    CaseBuilder b("glu of columns");
    const ValueId gate = b.activation(130), row = b.activation(301);
    const ValueId y = b.graph().add_node(Glu{Activation::kGeluTanh, 150}, {gate, row}).front();
    all.push_back(b.finish(y, kChunks, kFunction));
    return all;
  }
  if (op == "softcap") return softcap_cases();
  const auto of_elements = [&](auto make) {
    return element_cases(std::string(op), 3, kExact, make);
  };
  if (op == "add") {
    return of_elements([](GraphBuilder& g, ValueId x, ValueId y) { return g.add(x, y); });
  }
  if (op == "standardize") {
    CaseBuilder b("standardize 70");
    const ValueId x = b.activation(70), mean = b.random("mean", {70});
    return {b.finish(b.graph().standardize(x, mean, b.random("by", {70})), kChunks, kExact)};
  }
  if (op == "clamp") {
    return of_elements([](GraphBuilder& g, ValueId x, ValueId) { return g.clamp(x, -1, 0.5f); });
  }
  if (op == "scale") {
    std::vector<Case> all =
        of_elements([](GraphBuilder& g, ValueId x, ValueId) { return g.scale(x, -0.3f); });
    for (const Steps& steps : {kOneByOne, kChunks}) all.push_back(scale_by_constant_case(steps));
    return all;
  }
  if (op == "position_scale") return position_scale_cases();
  if (op == "all_reduce") return all_reduce_cases();
  if (op == "all_reduce_norm") return all_reduce_norm_cases();
  if (op == "all_gather") return all_gather_cases();
  if (op == "all_norm") return all_norm_cases();
  if (op == "columns") {
    return of_elements([](GraphBuilder& g, ValueId x, ValueId) {
      const uint32_t n = uint32_t(g.at(x).shape[1]);
      return g.columns(x, n / 3, (n + 1) / 2);
    });
  }
  if (op == "mean_rows") {
    return element_cases("mean_rows", 3, kSum,
                         [](GraphBuilder& g, ValueId x, ValueId) { return g.mean_rows(x); });
  }
  if (op == "first_row") {
    return of_elements([](GraphBuilder& g, ValueId x, ValueId) { return g.first_row(x); });
  }
  if (op == "last_row") {
    return of_elements([](GraphBuilder& g, ValueId x, ValueId) { return g.last_row(x); });
  }
  return {};
}

}  // namespace tokamak::parity
