// Cases of the ops that only steps of one token have.
#include "cases.h"
#include "kernels/rope/rope.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

/// One product with everything that `op` asks for.
Case fused_linear_case(FusedLinear op, DType dtype, uint32_t in, uint32_t out) {
  if (op.prologue == Prologue::kMergeSplits && op.splits == 0) op.splits = 3;
  const std::string splits = op.splits > 0 ? fmt::format(" {}", op.splits) : "";
  CaseBuilder b(fmt::format("fused_linear {}{}{}{} {} {}x{} bias {} softcap {} {}",
                            kPrologueNames[size_t(op.prologue)], splits, op.scaled ? " scaled" : "",
                            op.gated ? " gated" : "", kEpilogueNames[size_t(op.epilogue)], out, in,
                            op.bias, op.softcap, dtype_name(dtype)));
  op.eps = 1e-5f;
  constexpr uint32_t kHeads = 2;
  std::vector<ValueId> inputs;
  if (op.splits > 0) {
    inputs.push_back(b.positive_activation(op.splits * (in + 2 * kHeads)));
  } else {
    inputs.push_back(b.activation(in, 2));
  }
  inputs.push_back(b.random("matrix", {out, in}, dtype, 0.1f));
  if (op.bias) inputs.push_back(b.random("bias", {out}));
  if (op.adds()) inputs.push_back(b.activation(in, 2));
  const bool has_norm_bias = op.prologue == Prologue::kLayerNorm && op.bias;
  const uint32_t weights = op.prologue == Prologue::kNormAddNorm || has_norm_bias ? 2 * in
                           : op.prologue == Prologue::kHeadNorm                   ? in / 16
                                                                                  : in;
  if (op.norms()) inputs.push_back(b.random("w", {weights}));
  if (op.scaled) inputs.push_back(b.constant("k", {1}, {0.7f}));
  if (op.gated || op.epilogue == Epilogue::kGate) op.first = 12;
  if (op.gated) inputs.push_back(b.activation(op.first + in, 2));
  if (op.epilogue == Epilogue::kAdd) inputs.push_back(b.activation(out, 2));
  if (op.epilogue == Epilogue::kGate) inputs.push_back(b.activation(op.first + out + 1, 2));
  if (op.epilogue == Epilogue::kConv) {
    const uint32_t convolved = out - out / 4;
    inputs.push_back(b.random("taps", {convolved, 4}));
    inputs.push_back(b.graph().recurrent("rows", {3, convolved}));
  }
  const std::vector<ValueId> outputs = b.graph().add_node(op, inputs);
  ValueId result = outputs[0];
  const bool alike = op.epilogue != Epilogue::kGlu && op.epilogue != Epilogue::kArgmax;
  if (op.adds() && in == out && alike) result = b.graph().add(outputs[0], outputs[1]);
  const Steps steps =
      op.epilogue == Epilogue::kConv ? Steps{1, std::vector<uint32_t>(6, 1)} : kOneByOne;
  return b.finish(result, steps, 2 * kSum);
}

struct DownShape {
  uint32_t columns, inner;
  DType dtype, down_dtype;
};

/// A gated feed-forward network between a product that clears its sums and one that reads them.
Case gated_ffn_case(GatedFfn op, DownShape shape, float down_range = 0.1f) {
  const bool adds = op.glu.adds();
  CaseBuilder b(fmt::format("gated_ffn {} {}x{} {} {}{}{}", kPrologueNames[size_t(op.glu.prologue)],
                            shape.columns, shape.inner, dtype_name(shape.dtype),
                            dtype_name(shape.down_dtype), op.adds_x ? " adds x" : "",
                            op.glu.activation == Activation::kSilu ? "" : " gelu"));
  op.glu.eps = 1e-5f;
  const Dim columns = shape.columns, inner = shape.inner;
  const FusedLinear front = {.epilogue = Epilogue::kAdd, .clears = true};
  const auto made = b.graph().add_node(
      front, {b.activation(64, 2), b.random("front", {columns, 64}, DType::kBF16, 0.1f),
              b.activation(shape.columns, 2)});
  std::vector<ValueId> inputs = {made[0],
                                 b.random("gate_up", {2 * inner, columns}, shape.dtype, 0.1f)};
  if (adds) inputs.push_back(b.activation(shape.columns, 2));
  if (op.glu.norms()) inputs.push_back(b.random("norms", {adds ? 2 * columns : columns}));
  inputs.push_back(b.random("down", {columns, inner}, shape.down_dtype, down_range));
  inputs.push_back(made[1]);
  const auto sums = b.graph().add_node(op, inputs);
  // Sums as x, with a norm or a sandwich, and as a residual.
  const ValueId matrix = b.random("after", {columns, columns}, DType::kBF16, 0.1f);
  FusedLinear last = {.prologue = adds ? Prologue::kNormAddNorm : Prologue::kNorm, .eps = 1e-5f};
  std::vector<ValueId> operands = {sums[0], matrix};
  if (adds) operands.push_back(sums[1]);
  operands.push_back(b.random("v", {adds ? 2 * columns : columns}));
  const ValueId y = b.graph().add_node(last, operands)[0];
  const ValueId z =
      b.graph().add_node(FusedLinear{.epilogue = Epilogue::kAdd}, {y, matrix, sums[0]})[0];
  return b.finish(z, kOneByOne, 4 * kSum);
}

struct StepShape {
  uint32_t heads, kv_heads, head_dim, rotary;
  float range = 2;  // of the row
  uint32_t positions = 70;
  bool half_steps = false;  // the row is of those
};

Case step_attention_case(StepShape shape, StepAttention op, bool norms, DType cache_type) {
  CaseBuilder b(fmt::format(
      "step_attention {}/{}x{} turning {} {}{}{}{} window {}{} softcap {} splits {} parts {} {} "
      "range "
      "{} positions {}{}",
      shape.heads, shape.kv_heads, shape.head_dim, shape.rotary, op.appends ? "appends" : "reads",
      norms ? " norms" : "", op.norm_v ? " of values" : "", op.k_is_v ? " of keys" : "", op.window,
      op.chunks ? " in chunks" : "", op.softcap, op.splits, op.parts, cache_type_name(cache_type),
      shape.range, shape.positions, shape.half_steps ? " of half steps" : ""));
  const uint32_t kv_columns = shape.kv_heads * shape.head_dim;
  uint32_t slots = 0;
  const ValueId pages = b.pages(shape.positions, op.window == 0 ? 0 : op.window + 1, slots);
  ValueId cache =
      b.graph().kv_cache("cache", cache_type, slots, shape.kv_heads, shape.head_dim, op.window);
  RopeTable recipe{{}, 1.1f};
  for (uint32_t i = 0; i < shape.rotary / 2; ++i) {
    recipe.inverse_frequencies.push_back(1.0f / float(1 + i));
  }
  const uint32_t rows = op.short_rows + shape.positions;
  if (op.short_rows > 0) {
    recipe.short_rows = op.short_rows;
    recipe.short_frequencies.assign(shape.rotary / 2, 0.3f);
  }
  const ValueId table = b.constant("table", {rows, shape.rotary}, rope_table(recipe, rows));
  op.heads = shape.heads;
  op.eps = 1e-5f;
  op.scale = 1.5f / std::sqrt(float(shape.head_dim));
  const uint32_t q_columns = shape.heads * shape.head_dim;
  // The columns after them in the row are for others.
  const uint32_t others = op.k_is_v ? 0 : 4;
  const uint32_t row_columns =
      q_columns + (op.appends ? (op.k_is_v ? 1 : 2) * kv_columns : 0) + others;
  const ValueId row =
      shape.half_steps
          ? b.graph().embed(b.tokens(), b.constant("row", {kVocab, Dim{row_columns}},
                                                   half_steps(row_columns, shape.head_dim)))
          : b.activation(op.parts * row_columns, shape.range);
  if (!op.appends) {
    const ValueId k = b.activation(kv_columns, 2), v = b.activation(kv_columns);
    cache = b.graph().kv_append(k, v, cache, pages);
  }
  std::vector<ValueId> inputs = {row, table, cache, pages};
  if (norms) inputs.push_back(b.random("norms", {(op.appends ? 2 : 1) * Dim{shape.head_dim}}));
  ValueId y = b.graph().add_node(op, inputs)[0];
  if (op.splits > 1) {
    const ValueId w = b.random("matrix", {24, q_columns}, DType::kF32, 0.1f);
    y = b.graph().add_node(FusedLinear{.prologue = Prologue::kMergeSplits, .splits = op.splits},
                           {y, w})[0];
  }
  return b.finish(y, {1, std::vector<uint32_t>(shape.positions, 1)},
                  shape.half_steps ? kExact : attention_tolerance(cache_type));
}

}  // namespace

std::vector<Case> fused_linear_cases() {
  std::vector<Case> all;
  const auto add = [&](const FusedLinear& op, DType dtype, uint32_t in, uint32_t out) {
    all.push_back(fused_linear_case(op, dtype, in, out));
  };
  // Everything before with everything after, then every type and shape with one of them.
  for (const Prologue prologue :
       {Prologue::kNone, Prologue::kNorm, Prologue::kNormAdd, Prologue::kNormAddNorm,
        Prologue::kMergeSplits, Prologue::kHeadNorm, Prologue::kLayerNorm}) {
    for (const Epilogue after : {Epilogue::kNone, Epilogue::kGlu, Epilogue::kAdd, Epilogue::kArgmax,
                                 Epilogue::kGate, Epilogue::kConv}) {
      const FusedLinear op{.prologue = prologue, .epilogue = after};
      if (op.adds() && after == Epilogue::kConv) continue;
      for (const bool bias : {false, true}) {
        FusedLinear one = op;
        one.bias = bias;
        add(one, DType::kBF16, 64, 64);
      }
    }
    for (const char* type : {"q4_0", "q8_0"}) {
      add({.prologue = prologue}, dtype_from_name(type).value(), 2240, 18);
    }
  }
  // Factors of sums, and gates.
  for (const Prologue prologue : {Prologue::kNormAdd, Prologue::kNormAddNorm}) {
    for (const Epilogue after : {Epilogue::kNone, Epilogue::kArgmax}) {
      add({.prologue = prologue, .epilogue = after, .scaled = true}, DType::kBF16, 64, 64);
    }
    add({.prologue = prologue, .scaled = true}, dtype_from_name("q4_0").value(), 512, 18);
  }
  for (const Prologue prologue : {Prologue::kNone, Prologue::kMergeSplits, Prologue::kHeadNorm}) {
    for (const Epilogue after : {Epilogue::kNone, Epilogue::kAdd}) {
      add({.prologue = prologue, .epilogue = after, .gated = true}, DType::kF16, 64, 34);
    }
    add({.prologue = prologue, .activation = Activation::kSigmoid, .gated = true},
        dtype_from_name("q4_0").value(), 2240, 18);
  }
  add({.epilogue = Epilogue::kGate, .activation = Activation::kGeluTanh}, DType::kF32, 72, 67);
  add({.prologue = Prologue::kNorm, .epilogue = Epilogue::kConv}, dtype_from_name("q8_0").value(),
      512, 67);
  // Many rows of few units, of which a subgroup takes several.
  for (const char* type : {"q4_0", "q8_0"}) {
    const DType dtype = dtype_from_name(type).value();
    add({.prologue = Prologue::kNormAddNorm, .epilogue = Epilogue::kGlu}, dtype, 544, 8200);
    add({.prologue = Prologue::kNorm, .epilogue = Epilogue::kArgmax}, dtype, 544, 8200);
    add({.prologue = Prologue::kMergeSplits, .epilogue = Epilogue::kAdd}, dtype, 256, 8200);
  }
  // That many rows that a workgroup takes several turns, and finishes some before it takes others.
  for (const Epilogue after : {Epilogue::kAdd, Epilogue::kGlu, Epilogue::kArgmax}) {
    add({.epilogue = after}, dtype_from_name("q4_0").value(), 64, 70002);
  }
  add({.prologue = Prologue::kNormAdd}, DType::kBF16, 64, 9002);
  // Between one and two workgroups for each multiprocessor.
  for (const Prologue prologue :
       {Prologue::kNone, Prologue::kNorm, Prologue::kNormAddNorm, Prologue::kMergeSplits}) {
    add({.prologue = prologue,
         .epilogue = prologue == Prologue::kNormAddNorm ? Epilogue::kNone : Epilogue::kAdd},
        DType::kBF16, 72, 1538);
  }
  add({.prologue = Prologue::kNorm}, DType::kF32, 2048, 2050);
  // Splits that are loaded early, and more of them than that.
  for (const auto& [type, in] : {std::pair{"bf16", 512u}, {"q4_0", 512u}, {"bf16", 1152u}}) {
    for (const uint32_t splits : {8u, 16u}) {
      add({.prologue = Prologue::kMergeSplits, .splits = splits}, dtype_from_name(type).value(), in,
          34);
    }
  }
  // That many rows that the workgroups that merge long rows are larger.
  add({.prologue = Prologue::kMergeSplits, .epilogue = Epilogue::kAdd, .splits = 8}, DType::kQ4_0,
      2240, 3072);
  // Long rows of x as it is: few, and enough that a workgroup or a lane group takes more.
  for (const auto& [type, in] : {std::pair{"f32", 8192u},
                                 {"f16", 4096u},
                                 {"bf16", 2056u},
                                 {"q4_0", 8192u},
                                 {"q8_0", 4128u},
                                 {"q4_0", 14336u}}) {
    add({.epilogue = Epilogue::kAdd}, dtype_from_name(type).value(), in, 18);
  }
  add({.gated = true}, DType::kBF16, 2056, 2136);
  for (const uint32_t out : {1152u, 2136u}) add({.gated = true}, DType::kQ4_0, 4128, out);
  // Rows so long that all workgroup memory is in use.
  for (const char* type : {"q4_0", "q8_0"}) {
    add({.prologue = Prologue::kMergeSplits}, dtype_from_name(type).value(), 4096, 8200);
    add({.prologue = Prologue::kHeadNorm, .gated = true}, dtype_from_name(type).value(), 4096,
        8200);
    add({.prologue = Prologue::kNorm, .epilogue = Epilogue::kArgmax}, dtype_from_name(type).value(),
        16384, 2);
  }
  // One workgroup for each multiprocessor, with one to three rows a lane group.
  for (const uint32_t out : {1160u, 6600u})
    add({.prologue = Prologue::kNorm}, DType::kQ4_0, 3072, out);
  add({.prologue = Prologue::kNorm}, DType::kQ8_0, 4096, 3200);
  add({.epilogue = Epilogue::kArgmax, .softcap = 5}, DType::kF32, 64, 131);
  add({.prologue = Prologue::kNorm, .epilogue = Epilogue::kArgmax}, DType::kBF16, 2048, 2000);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const auto& [in, out] : {std::pair{8u, 1u}, {72u, 67u}, {1152u, 18u}, {9216u, 5u}}) {
      add({.prologue = Prologue::kNorm}, dtype, in, out);
    }
  }
  // Types that between them use every text of kernels/quant.
  for (const char* type : {"q8_0", "q4_0", "q5_1", "q4_k", "q5_k", "q6_k", "affine4_g64_bf16",
                           "affine8_g32_f32", "zero4_g128_f16"}) {
    add({.prologue = Prologue::kNorm}, dtype_from_name(type).value(), 768, 33);
  }
  return all;
}

std::vector<Case> gated_ffn_cases() {
  std::vector<Case> all;
  const auto add = [&](const GatedFfn& op, DownShape shape) {
    all.push_back(gated_ffn_case(op, shape));
  };
  const auto type = [](const char* name) { return dtype_from_name(name).value(); };
  const GatedFfn plain = {.glu = {.prologue = Prologue::kNorm, .epilogue = Epilogue::kGlu},
                          .adds_x = true};
  const GatedFfn sandwich = {.glu = {.prologue = Prologue::kNormAddNorm,
                                     .epilogue = Epilogue::kGlu,
                                     .activation = Activation::kGeluTanh}};
  for (const GatedFfn& op : {plain, sandwich}) {
    // A unit for each workgroup, several of them, lane groups with idle lanes, a last one with few
    // columns.
    for (const uint32_t inner : {8u, 64u, 1064u, 2064u, 4864u}) {
      add(op, {72, inner, DType::kBF16, DType::kBF16});
    }
    for (const char* name : {"q4_0", "q8_0"}) {
      for (const auto& [columns, inner] : {std::pair{64u, 64u}, {544u, 4256u}, {1024u, 8480u}}) {
        add(op, {columns, inner, type(name), type(name)});
      }
    }
    add(op, {256, 512, type("q4_k"), type("q6_k")});
    add(op, {64, 256, DType::kF16, type("q4_0")});
    add(op, {64, 64, type("q8_0"), DType::kF32});
  }
  GatedFfn bare = plain;
  bare.glu.prologue = Prologue::kNone;
  add(bare, {576, 1536, DType::kBF16, DType::kBF16});
  return all;
}

Case network_beyond_its_sums() {
  const GatedFfn op = {.glu = {.prologue = Prologue::kNorm, .epilogue = Epilogue::kGlu},
                       .adds_x = true};
  return gated_ffn_case(op, {72, 1064, DType::kBF16, DType::kBF16}, 1e12f);
}

std::vector<Case> step_attention_cases() {
  std::vector<Case> all;
  const auto add = [&](StepShape shape, const StepAttention& op, bool norms = false,
                       DType cache_type = DType::kF32) {
    all.push_back(step_attention_case(shape, op, norms, cache_type));
  };
  for (const StepShape shape : std::vector<StepShape>{{1, 1, 8, 8},
                                                      {8, 2, 64, 64},
                                                      {3, 1, 80, 20},
                                                      {4, 4, 96, 96},
                                                      {4, 1, 256, 256},
                                                      {2, 1, 512, 128}}) {
    const bool is_odd = shape.heads % 2 == 1;
    add(shape, is_odd ? StepAttention{} : StepAttention{.splits = 4}, !is_odd);
  }
  const StepShape llama = {32, 8, 64, 64};
  add(llama, {.splits = 8}, false, DType::kF16);
  // Several turns of every kernel, and scores that lead by more than sums are kept for.
  add({4, 2, 64, 64, 6, 200}, {}, false, DType::kF16);
  // Far positions: the heads of a key head together.
  add({8, 2, 64, 64, 6, 200}, {.splits = 16}, false, DType::kF16);
  add({6, 2, 64, 32}, {.window = 40, .splits = 16}, true);
  add({4, 2, 32, 32}, {.appends = false, .softcap = 3, .splits = 17});
  add({8, 2, 128, 128}, {.splits = 16}, true, DType::kF16);
  const StepShape small = {4, 2, 16, 8};
  add(small, {.norm_v = true}, true);
  add(small, {.k_is_v = true, .norm_v = true}, true);
  add(small, {.window = 20}, true);
  add(small, {.window = 20, .chunks = true, .splits = 3}, true);
  // A head of an odd number of units: a key for each lane, in fewer lanes than 32. Longer ones are
  // unrolled to texts that Mesa compiles for minutes.
  add({2, 1, 72, 72}, {}, true);
  // Values beyond the largest f16; queries and keys are normed.
  add({4, 2, 16, 8, 1e6f}, {}, true, DType::kF16);
  add(small, {.window = 20, .splits = 3});
  add(small, {.softcap = 3});
  add(small, {.short_rows = 30});
  add(small, {.parts = 4}, true);
  add(small, {.appends = false});
  add(small, {.appends = false, .splits = 4}, true);
  add({8, 2, 64, 64, 2, 200}, {.splits = 8}, false, kQ8Cache);
  add({8, 2, 64, 64, 6, 200}, {.splits = 16}, false, kQ8Cache);
  add({4, 1, 256, 256}, {.window = 40, .softcap = 3, .splits = 4}, true, kQ8Cache);
  add(small, {.k_is_v = true, .norm_v = true}, true, kQ8Cache);
  add(small, {.appends = false}, false, kQ8Cache);
  // Only the own position is seen, whose value is exact however many lanes have looked for its
  // step.
  add({2, 1, 16, 8, 0, 70, true}, {.window = 1}, false, kQ8Cache);
  add({2, 1, 72, 72, 0, 70, true}, {.window = 1}, false, kQ8Cache);
  add({4, 2, 256, 64, 0, 70, true}, {.window = 1}, false, kQ8Cache);
  return all;
}

std::vector<Case> block_argmax_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 63u, 64u, 65u, 1000u}) {
    for (const float factor : {1.f, 0.f}) {  // 0: all are equal, the lowest column wins
      CaseBuilder b(fmt::format("block_argmax of {} times {}", columns, factor));
      const ValueId x = b.graph().scale(b.activation(columns, 3), factor);
      const ValueId y = b.graph().add_node(BlockArgmax{}, {x})[0];
      all.push_back(b.finish(y, {3, {1, 3, 2}}, 0));
    }
  }
  return all;
}

/// The batch's token is the one chosen the step before.
std::vector<Case> next_token_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 40u}) {
    CaseBuilder b(fmt::format("next_token of {}", columns));
    const ValueId pairs = b.graph().add_node(BlockArgmax{}, {b.activation(columns, 3)})[0];
    const ValueId ids = b.graph().sampled("ids", {1}, DType::kF32);
    const ValueId y = b.graph().add_node(NextToken{}, {pairs, ids})[0];
    all.push_back(b.finish(y, kOneByOne, 0));
  }
  return all;
}

}  // namespace tokamak::parity
