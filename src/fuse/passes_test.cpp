// Each pass as text before and after; "leaves it alone" cases included. That fused and unfused
// graphs compute the same is tests/parity's business.
#include "fuse/passes.h"

#include <algorithm>

#include "fuse/long_context.h"
#include "fuse/pass_test.h"
#include "fuse/pipeline.h"

namespace tokamak::fuse {
namespace {

TEST_F(PassTest, AddRmsNormKeepsTheSumVisible) {
  const ValueId sum = b.add(x, x);
  const ValueId norm = b.rms_norm(sum, vector("w", 8), 1e-6f);
  Graph g = finish(b.add(sum, norm));
  EXPECT_EQ(run(add_rms_norm(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8], %2: f32[T,8] = add_rms_norm %0, %0, @w {eps=1e-06, parts=1}
%3: f32[T,8] = add %1, %2
return %3
)");
}

TEST_F(PassTest, AddRmsNormLeavesAPlainNormAlone) {
  expect_alone(add_rms_norm(), finish(b.rms_norm(x, vector("w", 8), 1e-6f)));
}

TEST_F(PassTest, AddRmsNormLeavesANormPerHeadAlone) {
  const ValueId sum = b.add(x, x);
  expect_alone(add_rms_norm(), finish(b.rms_norm(sum, vector("w", 4), 1e-6f)));
}

/// A residual, added to a product of that many columns, and a norm after it.
struct SplitLinearTest : PassTest {
  Graph residual_after(Dim columns) {
    const ValueId wide = b.linear(x, weight("wide", {columns, 8}));
    const auto both = b.add_node(AddRmsNorm{1e-6f},
                                 {b.linear(wide, weight("o", {8, columns})), x, vector("n", 8)});
    return finish(b.add(both[0], both[1]));
  }
};

TEST_F(SplitLinearTest, TheNormAddsUpThePartsOfAProduct) {
  Graph g = residual_after(1088);
  EXPECT_EQ(run(split_linear(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,1088] = linear %0, @wide
%2: f32[T,32] = split_linear %1, @o {parts=4}
%3: f32[T,8], %4: f32[T,8] = add_rms_norm %2, %0, @n {eps=1e-06, parts=4}
%5: f32[T,8] = add %3, %4
return %5
)");
}

TEST_F(SplitLinearTest, FewColumnsStayTogether) {
  expect_alone(split_linear(), residual_after(504));
}

TEST_F(SplitLinearTest, WorkgroupsThatTakeTurnsNeedNoParts) {
  Graph g = residual_after(1088);
  EXPECT_EQ(run(split_linear(), g, {.is_parallel = false}), 0u);
}

TEST_F(SplitLinearTest, OnlyStepsOfSomeTokensHaveParts) {
  const Graph graph = residual_after(1088);
  const auto count = [&](Steps steps) {
    Graph g = graph;
    const auto pass = std::ranges::find(passes(), "split_linear", &Pass::name);
    return run_pipeline(g, steps)->at(size_t(pass - passes().begin()));
  };
  EXPECT_EQ(count(Steps::kMany), 0u);
  EXPECT_EQ(count(Steps::kShort), 1u);
  EXPECT_EQ(count(Steps::kDecode), 1u);
  EXPECT_EQ(count(Steps::kOne), 0u);
}

TEST_F(PassTest, ScaleMovesIntoTheLookup) {
  Graph g = finish(b.scale(x, 4));
  EXPECT_EQ(run(scale_embed(), g), 1u);
  EXPECT_EQ(nodes_text(g), "%0: f32[T,8] = embed @tokens, @table {scale=4}\nreturn %0\n");
}

TEST_F(PassTest, ScaleStaysWhenThePlainEmbeddingIsUsedToo) {
  const ValueId scaled = b.scale(x, 4);
  expect_alone(scale_embed(), finish(b.add(x, scaled)));
}

TEST_F(PassTest, GateUpInterleavesRows) {
  const ValueId gate = b.linear(x, weight("gate", {6, 8}));
  const ValueId up = b.linear(x, weight("up", {6, 8}));
  Graph g = finish(b.glu(Activation::kGeluTanh, gate, up));
  EXPECT_EQ(run(gate_up(), g), 1u);
  EXPECT_EQ(to_text(g), R"(input  @tokens: u32[T]
const  @table: bf16[32,8] = weight "table"
const  @gate.gate_up: bf16[12,8] = interleave "gate" "up"
%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,6] = linear_glu %0, @gate.gate_up {activation=gelu_tanh}
return %1
)");
}

TEST_F(PassTest, GateUpWithBiases) {
  const ValueId gate = b.linear(x, weight("gate", {6, 8}), vector("gate.b", 6));
  const ValueId up = b.linear(x, weight("up", {6, 8}), vector("up.b", 6));
  Graph g = finish(b.glu(Activation::kSilu, gate, up));
  EXPECT_EQ(run(gate_up(), g), 1u);
  EXPECT_NE(to_text(g).find("f32[12] = interleave \"gate.b\" \"up.b\""), std::string::npos);
}

TEST_F(PassTest, GateUpLeavesMixedTypesAlone) {
  const ValueId gate = b.linear(x, weight("gate", {6, 8}));
  const ValueId up = b.linear(x, weight("up", {6, 8}, DType::kF16));
  expect_alone(gate_up(), finish(b.glu(Activation::kSilu, gate, up)));
}

TEST_F(PassTest, QkvJoinsSiblingsAcrossOtherNodes) {
  const ValueId q = b.rms_norm(b.linear(x, weight("q", {8, 8})), vector("qn", 4), 1e-6f);
  const ValueId k = b.linear(x, weight("k", {4, 8}));
  const ValueId v = b.linear(x, weight("v", {4, 8}));
  const ValueId kv = b.add(k, v);
  const ValueId both = b.linear(kv, weight("o", {8, 4}));
  Graph g = finish(b.add(q, both));
  EXPECT_EQ(run(qkv(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8], %2: f32[T,4], %3: f32[T,4] = qkv %0, @q.qkv {q_rows=8, k_rows=4, v_rows=0}
%4: f32[T,8] = rms_norm %1, @qn {eps=1e-06}
%5: f32[T,4] = add %2, %3
%6: f32[T,8] = linear %5, @o
%7: f32[T,8] = add %4, %6
return %7
)");
}

TEST_F(PassTest, QkvPutsTheRowsOfOneTensorTogetherAgain) {
  const auto rows = [&](const char* name, uint32_t first, uint32_t count) {
    return b.constant(name, {count, 8}, DType::kBF16, Weight{{WeightPart("all", first, count)}});
  };
  const ValueId q = b.linear(x, rows("q", 0, 8));
  const ValueId k = b.linear(x, rows("k", 8, 8));
  const ValueId v = b.linear(x, rows("v", 16, 8));
  const ValueId qk = b.add(q, k);
  Graph g = finish(b.add(qk, v));
  EXPECT_EQ(run(qkv(), g), 1u);
  EXPECT_NE(to_text(g).find("bf16[24,8] = concat \"all\"[0:8] \"all\"[8:16] \"all\"[16:24]\n"),
            std::string::npos)
      << to_text(g);
}

TEST_F(PassTest, QkvTakesRowsThatAreJoinedAlready) {
  const Weight heads{{{"q", 0, 4}, {"q", 8, 4}}, RowOrder::kConcat};
  const ValueId q = b.linear(x, b.constant("query", {8, 8}, DType::kBF16, heads));
  const ValueId k = b.linear(x, weight("k", {8, 8}));
  const ValueId v = b.linear(x, weight("v", {8, 8}));
  const ValueId qk = b.add(q, k);
  Graph g = finish(b.add(qk, v));
  EXPECT_EQ(run(qkv(), g), 1u);
  EXPECT_NE(to_text(g).find(R"(concat "q"[0:4] "q"[8:12] "k"[0:8] "v"[0:8])"), std::string::npos)
      << to_text(g);
}

TEST_F(PassTest, GateUpLeavesRowsThatAreJoinedAlone) {
  const Weight heads{{{"q", 0, 4}, {"q", 8, 4}}, RowOrder::kConcat};
  const ValueId gate = b.linear(x, b.constant("gate", {8, 8}, DType::kBF16, heads));
  const ValueId up = b.linear(x, weight("up", {8, 8}));
  expect_alone(gate_up(), finish(b.glu(Activation::kSilu, gate, up)));
}

TEST_F(PassTest, QkvJoinsMatricesOfSeveralTypes) {
  const ValueId q = b.linear(x, weight("q", {8, 8}, DType::kF16));
  const ValueId k = b.linear(x, weight("k", {4, 8}, DType::kF16));
  const ValueId v = b.linear(x, weight("v", {4, 8}));
  const ValueId both = b.linear(b.add(k, v), weight("o", {8, 4}));
  Graph g = finish(b.add(q, both));
  EXPECT_EQ(run(qkv(), g), 1u);
  EXPECT_NE(to_text(g).find("const  @q.qkv: f32[16,8] = concat \"q\"[0:8] as f16 \"k\"[0:4] as f16 "
                            "\"v\"[0:4] as bf16\n"),
            std::string::npos)
      << to_text(g);
}

TEST_F(PassTest, QkvLeavesOddRowsOfAnotherTypeAlone) {
  const ValueId q = b.linear(x, weight("q", {9, 8}));
  const ValueId k = b.linear(x, weight("k", {9, 8}));
  const ValueId v = b.linear(x, weight("v", {9, 8}, DType::kF16));
  expect_alone(qkv(), finish(b.add(b.add(q, k), v)));
}

TEST_F(PassTest, QkvLeavesTwoSiblingsAlone) {
  const ValueId q = b.linear(x, weight("q", {8, 8}));
  const ValueId k = b.linear(x, weight("k", {8, 8}));
  expect_alone(qkv(), finish(b.add(q, k)));
}

TEST_F(PassTest, QkvLeavesASharedWeightAlone) {
  const ValueId q = b.linear(x, table), k = b.linear(x, weight("k", {32, 8}));
  const ValueId v = b.linear(x, weight("v", {32, 8}));
  const ValueId qk = b.add(q, k);
  expect_alone(qkv(), finish(b.add(qk, v)));
}

TEST_F(PassTest, NormGoesIntoEveryProductThatReadsIt) {
  const ValueId n = b.rms_norm(x, vector("norm", 8), 1e-6f);
  const ValueId p = b.linear(n, weight("p", {16, 8})), q = b.linear(n, weight("q", {16, 8}));
  Graph g = finish(b.add(p, q));
  EXPECT_EQ(run(norm_linear(), g), 2u);
  EXPECT_EQ(nodes_text(g).find("rms_norm"), std::string::npos) << nodes_text(g);
}

TEST_F(PassTest, ResidualIsTheEndingOfTheProduct) {
  const ValueId y = b.linear(x, weight("w", {8, 8}));
  Graph g = finish(b.add(x, y));
  EXPECT_EQ(run(residual(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8] = fused_linear %0, @w, %0 {prologue=none, epilogue=add, bias=false, eps=0, splits=0, activation=silu, softcap=0, scaled=false, gated=false, first=0, clears=false}
return %1
)");
}

TEST_F(PassTest, ResidualLeavesAProductThatIsUsedElsewhereAlone) {
  const ValueId y = b.linear(x, weight("w", {8, 8}));
  const ValueId sum = b.add(x, y);
  expect_alone(residual(), finish(b.add(sum, y)));
}

TEST_F(PassTest, SandwichKeepsTheSumForTheNextResidual) {
  const ValueId o = b.linear(x, weight("o", {8, 8}));
  const ValueId s = b.add(x, b.rms_norm(o, vector("u", 8), 1e-6f));
  const ValueId y = b.linear(b.rms_norm(s, vector("v", 8), 1e-6f), weight("w", {8, 8}));
  Graph g = finish(b.add(s, y));
  EXPECT_EQ(run(norm_linear(), g), 1u);
  EXPECT_EQ(run(norm_add_norm(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8] = linear %0, @o
%2: f32[T,8], %3: f32[T,8] = fused_linear %1, @w, %0, @u.norms {prologue=norm_add_norm, epilogue=none, bias=false, eps=1e-06, splits=0, activation=silu, softcap=0, scaled=false, gated=false, first=0, clears=false}
%4: f32[T,8] = add %3, %2
return %4
)");
}

/// The odd point of a feed-forward network.
enum class Oddity { kNone, kSumScaled, kBias, kSumIsResult };

/// That of a layer of `columns`, after the product of its attention and in front of a head.
Graph feed_forward(GraphBuilder& b, ValueId x, Dim columns, Oddity odd = Oddity::kNone) {
  const auto matrix = [&](const char* name, Dim rows, Dim size) {
    return b.constant(name, {rows, size}, DType::kBF16, Weight{{name}});
  };
  const auto vector = [&](const char* name, Dim size) {
    return b.constant(name, {size}, DType::kF32, Weight{{name}});
  };
  const ValueId s = b.add(x, b.linear(x, matrix("o", columns, columns)));
  const ValueId n = b.rms_norm(s, vector("v", columns), 1e-6f);
  const auto product = [&](const char* name, const char* bias) {
    const ValueId w = matrix(name, 16, columns);
    return odd == Oddity::kBias ? b.linear(n, w, vector(bias, 16)) : b.linear(n, w);
  };
  const ValueId gate = product("gate", "gate_bias"), up = product("up", "up_bias");
  const ValueId glu = b.glu(Activation::kSilu, gate, up);
  const ValueId z = b.add(s, b.linear(glu, matrix("down", columns, 16)));
  ValueId y =
      b.linear(b.rms_norm(z, vector("u", columns), 1e-6f), matrix("head", columns, columns));
  if (odd == Oddity::kSumScaled) y = b.add(y, b.scale(z, 2));
  auto graph = b.finish(odd == Oddity::kSumIsResult ? z : y);
  EXPECT_TRUE(graph) << graph.error().message;
  for (const Pass& pass : {gate_up(), residual(), norm_linear()}) run(pass, *graph);
  return *std::move(graph);
}

/// Such a network of as many columns as an embedding has.
Graph wide_feed_forward(Dim columns) {
  GraphBuilder b;
  const ValueId rows = b.constant("rows", {4, columns}, DType::kBF16, Weight{{"rows"}});
  return feed_forward(b, b.embed(b.input("tokens", {kTokens}), rows), columns);
}

TEST_F(PassTest, AGatedNetworkIsOneLaunchWhoseSumsTheNextProductReads) {
  Graph g = feed_forward(b, x, 8);
  EXPECT_EQ(run(gated_ffn(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8], %2: i32[T,16] = fused_linear %0, @o, %0 {prologue=none, epilogue=add, bias=false, eps=0, splits=0, activation=silu, softcap=0, scaled=false, gated=false, first=0, clears=true}
%3: i32[T,16] = gated_ffn %1, @gate.gate_up, @v, @down, %2 {prologue=norm, epilogue=glu, bias=false, eps=1e-06, splits=0, activation=silu, softcap=0, scaled=false, gated=false, first=0, clears=false, adds_x=true}
%4: f32[T,8] = fused_linear %3, @head, @u {prologue=norm, epilogue=none, bias=false, eps=1e-06, splits=0, activation=silu, softcap=0, scaled=false, gated=false, first=0, clears=false}
return %4
)");
  EXPECT_EQ(run(gated_ffn(), g), 0u);
}

TEST_F(PassTest, AGatedNetworkInASandwichAddsNothing) {
  const ValueId o = b.linear(x, weight("o", {8, 8}));
  const ValueId s = b.add(x, b.rms_norm(o, vector("a", 8), 1e-6f));
  const ValueId n = b.rms_norm(s, vector("b", 8), 1e-6f);
  const ValueId glu = b.glu(Activation::kGeluTanh, b.linear(n, weight("gate", {16, 8})),
                            b.linear(n, weight("up", {16, 8})));
  const ValueId z =
      b.add(s, b.rms_norm(b.linear(glu, weight("down", {8, 16})), vector("c", 8), 1e-6f));
  Graph g = finish(b.linear(b.rms_norm(z, vector("d", 8), 1e-6f), weight("head", {24, 8})));
  ASSERT_TRUE(run_pipeline(g, Steps::kOne));
  const std::string text = nodes_text(g);
  EXPECT_NE(text.find("i32[T,16], %4: f32[T,8] = gated_ffn %1, @gate.gate_up, %0, @a.norms, "
                      "@down, %2 {prologue=norm_add_norm"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("adds_x=false"), std::string::npos) << text;
}

TEST_F(PassTest, AGatedNetworkWithABiasOrWhoseSumsAreReadOtherwiseStaysTwoLaunches) {
  for (const Oddity odd : {Oddity::kSumScaled, Oddity::kBias, Oddity::kSumIsResult}) {
    GraphBuilder own;
    const ValueId rows = own.constant("rows", {4, 8}, DType::kBF16, Weight{{"rows"}});
    expect_alone(gated_ffn(),
                 feed_forward(own, own.embed(own.input("tokens", {kTokens}), rows), 8, odd));
  }
}

TEST_F(PassTest, AGatedNetworkOfLongRowsStaysTwoLaunches) {
  Graph narrow = wide_feed_forward(1280);
  EXPECT_EQ(run(gated_ffn(), narrow), 1u);
  expect_alone(gated_ffn(), wide_feed_forward(1288));
}

TEST_F(PassTest, AGatedNetworkIsOneLaunchAsFarAsTheTargetTakesIt) {
  const auto fuses = [](Dim columns, const Target& target) {
    Graph g = wide_feed_forward(columns);
    return run(gated_ffn(), g, target) == 1;
  };
  EXPECT_TRUE(fuses(2560, {.launch_cost_us = 4 * Target().launch_cost_us})) << "twice as long rows";
  EXPECT_FALSE(fuses(2568, {.launch_cost_us = 4 * Target().launch_cost_us}));
  EXPECT_FALSE(fuses(8, {.launch_cost_us = 0}));
  const uint64_t down = 8 * 16 * 2;
  EXPECT_TRUE(fuses(8, {.max_binding_bytes = down}));
  EXPECT_FALSE(fuses(8, {.max_binding_bytes = down - 1})) << "its second matrix is never cut";
  // In front: x, w and r, w once more, a sum and zeros; the product in front is a residual.
  Graph few = feed_forward(b, x, 8);
  EXPECT_EQ(run(gated_ffn(), few, {.max_bindings = 5}), 0u);
  EXPECT_EQ(run(gated_ffn(), few, {.max_bindings = 6}), 1u);
}

TEST_F(PassTest, HeadEndsInTheFirstStageOfTheChoice) {
  Graph g = with_argmax(
      for_one_token(finish(b.softcap(b.linear(b.last_row(x), weight("w", {70, 8})), 30))));
  EXPECT_EQ(run(head_argmax(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,4] = fused_linear %0, @w {prologue=none, epilogue=argmax, bias=false, eps=0, splits=0, activation=silu, softcap=30, scaled=false, gated=false, first=0, clears=false}
%2: f32[64] = next_token %1, @chosen
return %2
)");
}

TEST_F(PassTest, AListOfTokensLeavesTheLogits) {
  Graph g = with_list(for_one_token(finish(b.linear(b.last_row(x), weight("w", {70, 8})))));
  EXPECT_EQ(run(head_argmax(), g), 0u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,70] = linear %0, @w
%2: f32[T,10] = block_maxima %1, @allowed
%3: f32[T,5] = topk_blocks %2
%4: f32[T,141] = topk_tokens %1, %2, %3, @allowed
%5: f32[8,142], %6: u32[3] = sample_token %4, @drawn, @occurred
return %5
)");
}

TEST_F(PassTest, AttentionOfOneTokenIsOneKernelWhoseSplitsTheProductMerges) {
  const ValueId q = b.linear(x, weight("q", {16, 8})), k = b.linear(x, weight("k", {8, 8}));
  const ValueId v = b.linear(x, weight("v", {8, 8}));
  const ValueId angles = b.constant("angles", {32, 8}, DType::kF32, RopeTable{{1, 1, 1, 1}});
  const ValueId cache = b.kv_cache("kv", DType::kF16, 32, 1, 8), pages = b.input("pages", {2});
  const ValueId turned = b.rope(q, angles, 8);
  const ValueId kv = b.kv_append(b.rope(k, angles, 8), v, cache, pages);
  const ValueId y = b.attention(turned, kv, pages, {.scale = 0.5f});
  Graph g = finish(b.linear(y, weight("o", {8, 16})));
  ASSERT_EQ(run(qkv(), g), 1u);
  EXPECT_EQ(run(step_attention(), g), 1u);
  EXPECT_EQ(run(split_attention(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,32] = linear %0, @q.qkv
%2: f32[T,160], %3: f16[32,2,1,8] = step_attention %1, @angles, @kv, @pages {heads=2, appends=true, k_is_v=false, norm_v=false, eps=0, scale=0.5, window=0, chunks=false, softcap=0, short_rows=0, splits=8, parts=1}
%4: f32[T,8] = fused_linear %2, @o {prologue=merge_splits, epilogue=none, bias=false, eps=0, splits=8, activation=silu, softcap=0, scaled=false, gated=false, first=0, clears=false}
return %4
)");
}

/// Attention of 16 heads that share `kv` key heads, and the product after it, fused.
Graph split_attention_of(GraphBuilder& b, ValueId row, Dim kv, Dim head_dim, uint32_t window) {
  const ValueId angles = b.constant("angles", {32, 8}, DType::kF32, RopeTable{{1, 1, 1, 1}});
  const ValueId cache = b.kv_cache("kv", DType::kF16, 32, kv, head_dim, window);
  const ValueId pages = b.input("pages", {2});
  const StepAttention op{.heads = 16, .window = window, .splits = 8};
  const ValueId parts = b.add_node(op, {row, angles, cache, pages})[0];
  const ValueId w = b.constant("w", {8, 16 * head_dim}, DType::kF32, Weight{{"w"}});
  auto graph = b.finish(
      b.add_node(FusedLinear{.prologue = Prologue::kMergeSplits, .splits = 8}, {parts, w})[0]);
  EXPECT_TRUE(graph);
  return *std::move(graph);
}

TEST_F(PassTest, LongContextHasMoreSplitsWhereKeyHeadsAreManyAndShared) {
  const ValueId row = b.linear(x, weight("row", {256, 8}));
  const auto long_context = for_long_context(split_attention_of(b, row, 8, 8, 0));
  ASSERT_TRUE(long_context);
  EXPECT_EQ(nodes_text(*long_context), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,256] = linear %0, @row
%2: f32[T,2560], %3: f16[32,2,8,8] = step_attention %1, @angles, @kv, @pages {heads=16, appends=true, k_is_v=false, norm_v=false, eps=0, scale=1, window=0, chunks=false, softcap=0, short_rows=0, splits=16, parts=1}
%4: f32[T,8] = fused_linear %2, @w {prologue=merge_splits, epilogue=none, bias=false, eps=0, splits=16, activation=silu, softcap=0, scaled=false, gated=false, first=0, clears=false}
return %4
)");
  EXPECT_FALSE(for_long_context(*long_context)) << "it has them";
}

TEST_F(PassTest, FarPositionsHaveMoreSplitsWhereThoseBusyTheTarget) {
  const auto gains = [](Dim kv, uint32_t multiprocessors) {
    GraphBuilder own;
    const ValueId ids = own.input("tokens", {kTokens});
    const ValueId rows = own.constant("rows", {4, 8192}, DType::kF32, Weight{{"rows"}});
    return for_long_context(split_attention_of(own, own.embed(ids, rows), kv, 8, 0),
                            {.multiprocessors = multiprocessors})
        .has_value();
  };
  EXPECT_TRUE(gains(2, 32));
  EXPECT_FALSE(gains(1, 32));
  EXPECT_TRUE(gains(4, 80)) << "64 workgroups busy 80";
  EXPECT_FALSE(gains(4, 132));
  EXPECT_FALSE(gains(8, 256));
}

TEST_F(PassTest, LongContextIsAsOthersWhereMoreSplitsGainNothing) {
  for (const auto& [kv, head_dim, window] :
       {std::tuple{4, 8, 0u}, {16, 8, 0u}, {8, 136, 0u}, {8, 8, 20u}}) {
    GraphBuilder own;
    const ValueId ids = own.input("tokens", {kTokens});
    const ValueId rows = own.constant("rows", {4, 8192}, DType::kF32, Weight{{"rows"}});
    EXPECT_FALSE(
        for_long_context(split_attention_of(own, own.embed(ids, rows), kv, head_dim, window)))
        << kv << " key heads of " << head_dim << ", window " << window;
  }
}

TEST_F(PassTest, PipelineIsIdempotentAndNamesUnknownPasses) {
  const ValueId gate = b.linear(x, weight("gate", {6, 8}));
  const ValueId up = b.linear(x, weight("up", {6, 8}));
  Graph g = finish(b.glu(Activation::kSilu, gate, up));
  ASSERT_TRUE(run_pipeline(g, Steps::kMany));
  const std::string once = to_text(g);
  EXPECT_EQ(*run_pipeline(g, Steps::kMany), std::vector<uint32_t>(passes().size(), 0));
  EXPECT_EQ(to_text(g), once);
  auto unknown = run_pipeline(g, Steps::kMany, {"frobnicate"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("scale_embed, scale_route, gated_conv, gate_up"),
            std::string::npos);
}

}  // namespace
}  // namespace tokamak::fuse
