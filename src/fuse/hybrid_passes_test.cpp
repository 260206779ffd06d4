// The passes that only some families need, as text before and after: short convolutions, the gated
// delta rule, gates, experts. As passes_test.cpp.
#include "fuse/pass_test.h"
#include "fuse/passes.h"
#include "fuse/pipeline.h"
#include "graph/kv_cache.h"

namespace tokamak::fuse {
namespace {

/// The attributes that fused_linear prints after its operands.
std::string attributes(const FusedLinear& op) {
  return attributes_text(op) + '\n';
}

struct HybridTest : PassTest {
  std::string before = "%0: f32[T,8] = embed @tokens, @table {scale=1}\n";

  ValueId state(const char* name, Shape shape) { return b.recurrent(name, std::move(shape)); }

  /// A convolution of LFM2.
  ValueId gated_convolution(Activation second) {
    const ValueId gate = b.linear(x, weight("b", {8, 8})), z = b.linear(x, weight("z", {8, 8}));
    const ValueId g = b.glu(Activation::kIdentity, gate, z);
    const ValueId c =
        b.short_conv(g, vector2("taps", {8, 3}), state("rows", {2, 8}), Activation::kIdentity);
    return b.glu(second, b.linear(x, weight("c", {8, 8})), c);
  }
  ValueId vector2(const char* name, Shape shape) {
    return weight(name, std::move(shape), DType::kF32);
  }
};

TEST_F(HybridTest, GatedConvolutionReadsTheRowOfOneProduct) {
  Graph g = finish(gated_convolution(Activation::kIdentity));
  EXPECT_EQ(run(gated_conv(), g), 1u);
  EXPECT_EQ(nodes_text(g), before + R"(%1: f32[T,24] = linear %0, @b.gated
%2: f32[T,8], %3: f32[2,8] = short_conv %1, @taps, @rows {activation=identity, gated=true}
return %2
)");
  EXPECT_NE(to_text(g).find(R"(= concat "b"[0:8] "c"[0:8] "z"[0:8])"), std::string::npos);
}

TEST_F(HybridTest, GatedConvolutionLeavesAGateWithAnActivationAlone) {
  expect_alone(gated_conv(), finish(gated_convolution(Activation::kSilu)));
}

/// A layer of Qwen3.5, with one key head and two value heads of 4.
TEST_F(HybridTest, DeltaRuleReadsTheRowOfOneProduct) {
  const ValueId n = b.rms_norm(x, vector("norm", 8), 1e-6f);
  const ValueId qkv_rows = b.linear(n, weight("in", {16, 8}));
  const ValueId z = b.linear(n, weight("z", {8, 8})), ab = b.linear(n, weight("ab", {4, 8}));
  const ValueId c =
      b.short_conv(qkv_rows, vector2("taps", {16, 3}), state("rows", {2, 16}), Activation::kSilu);
  const ValueId y =
      b.gated_delta(c, ab, vector2("rates", {2, 2}), state("s", {2, 4, 4}), {.key_heads = 1});
  const ValueId gated = b.glu(Activation::kSilu, z, b.rms_norm(y, vector("head", 4), 1e-6f));
  Graph g = finish(b.add(x, b.linear(gated, weight("out", {8, 8}))));
  ASSERT_EQ(run(qkv(), g), 1u);
  EXPECT_EQ(run(conv_linear(), g), 1u);
  EXPECT_NE(nodes_text(g).find("columns %2 {first=16, count=8}"), std::string::npos)
      << nodes_text(g);
  EXPECT_EQ(run(delta_row(), g), 1u);
  EXPECT_EQ(run(gate_linear(), g), 1u);
  EXPECT_EQ(run(head_norm(), g), 1u);
  EXPECT_EQ(run(residual(), g), 1u);
  EXPECT_EQ(run(norm_linear(), g), 1u);
  EXPECT_EQ(
      nodes_text(g),
      before + "%1: f32[T,28], %2: f32[2,16] = fused_linear %0, @in.qkv, @norm, @taps, @rows" +
          attributes({.prologue = Prologue::kNorm, .epilogue = Epilogue::kConv, .eps = 1e-6f}) +
          "%3: f32[T,8], %4: f32[2,4,4] = gated_delta %1, %1, @rates, @s {key_heads=1, "
          "tiled=false, negated=false}\n"
          "%5: f32[T,8] = fused_linear %3, @out, @head, %1, %0" +
          attributes({.prologue = Prologue::kHeadNorm,
                      .epilogue = Epilogue::kAdd,
                      .eps = 1e-6f,
                      .gated = true,
                      .first = 16}) +
          "return %5\n");
}

TEST_F(HybridTest, ConvolutionLeavesARowThatIsUsedAsItIsAlone) {
  const ValueId q = b.linear(x, weight("q", {8, 8})), k = b.linear(x, weight("k", {8, 8}));
  const ValueId v = b.linear(x, weight("v", {8, 8}));
  const ValueId c =
      b.short_conv(q, vector2("taps", {8, 3}), state("rows", {2, 8}), Activation::kSilu);
  const ValueId kv = b.add(k, v), qc = b.add(q, c);
  Graph g = finish(b.add(kv, qc));
  ASSERT_EQ(run(qkv(), g), 1u);
  expect_alone(conv_linear(), g);
}

struct LatentTest : HybridTest {
  Graph attention() {
    const ValueId pages = b.input("pages", {2});
    const ValueId cache = b.latent_cache("kv", DType::kF16, 32, 6, 2);
    const ValueId held = b.latent_append(b.columns(x, 0, 6), b.columns(x, 6, 2), cache, pages);
    const ValueId queries = b.linear(x, weight("q", {12, 8}));
    return finish(b.latent_attention(queries, b.columns(x, 0, 4), held, pages, 0.5f));
  }
};

TEST_F(LatentTest, OneTokenSeesItsPositionsInParts) {
  Graph one = attention(), batch = one;
  EXPECT_EQ(run(split_latents(), one, {.multiprocessors = 20}), 1u);
  EXPECT_EQ(run(split_latents(), one, {.multiprocessors = 20}), 0u);
  EXPECT_NE(nodes_text(one).find(R"( {scale=0.5, splits=16}
%7: f32[T,12] = merge_splits %6 {heads=2, splits=16}
return %7
)"),
            std::string::npos)
      << nodes_text(one);
  EXPECT_EQ(run(batch_latents(), batch), 1u);
  EXPECT_NE(nodes_text(batch).find("merge_splits %6 {heads=2, splits=16}"), std::string::npos)
      << nodes_text(batch);
}

TEST_F(LatentTest, OnAProcessorPositionsStayTogether) {
  Graph g = attention();
  EXPECT_EQ(run(split_latents(), g, {.is_parallel = false}), 0u);
}

struct ConvTest : HybridTest {
  ValueId convolved(ValueId of, const char* name) {
    return b.causal_conv(of, vector2(name, {8, 24}), vector("bias", 8), 3);
  }
};

TEST_F(ConvTest, ABlockOfAResidualLayerIsTwoConvolutions) {
  const ValueId first = convolved(b.half_snake(x, vector("a", 4)), "v");
  const ValueId second = convolved(b.half_snake(first, vector("c", 4)), "w");
  Graph g = finish(b.add(x, second));
  EXPECT_EQ(run(snake_conv(), g), 2u);
  EXPECT_EQ(run(conv_add(), g), 1u);
  EXPECT_EQ(nodes_text(g),
            before +
                R"(%1: f32[T,8] = causal_conv %0, @v, @bias, @a {dilation=3, snake=true, adds=false}
%2: f32[T,8] = causal_conv %1, @w, @bias, @c, %0 {dilation=3, snake=true, adds=true}
return %2
)");
}

TEST_F(ConvTest, AConvolutionTakesOneSum) {
  Graph g = finish(b.add(b.add(convolved(x, "w"), x), x));
  EXPECT_EQ(run(conv_add(), g), 1u);
  EXPECT_NE(nodes_text(g).find("= add %1, %0"), std::string::npos) << nodes_text(g);
}

TEST_F(ConvTest, ASnakeThatOthersReadStays) {
  const ValueId h = b.half_snake(x, vector("a", 4));
  expect_alone(snake_conv(), finish(b.add(h, convolved(h, "w"))));
}

TEST_F(ConvTest, AConvolutionThatOthersReadStays) {
  const ValueId y = convolved(x, "v");
  const ValueId sum = b.add(x, y);
  expect_alone(conv_add(), finish(b.add(sum, y)));
}

struct AttentionTest : HybridTest {
  ValueId angles = b.constant("angles", {32, 8}, DType::kF32, RopeTable{{1, 1, 1, 1}});
  ValueId pages = b.input("pages", {2});
  ValueId cache = b.kv_cache("kv", DType::kF16, 32, 1, 8);

  ValueId turned(ValueId h, const char* norm) {
    return b.rope(b.rms_norm(h, vector(norm, 8), 1e-6f), angles, 8);
  }
  ValueId attention(ValueId q, ValueId k, ValueId v) {
    const ValueId key = turned(k, "kn");
    const ValueId kv = b.kv_append(key, v, cache, pages);
    return b.attention(turned(q, "qn"), kv, pages, {.scale = 0.5f});
  }
  /// Keys before their norm are values.
  Graph of_keys_that_are_values() {
    const ValueId q = b.linear(x, weight("q", {16, 8})), k = b.linear(x, weight("k", {8, 8}));
    const ValueId ones = b.constant("ones", {8}, DType::kF32, Fill{1});
    Graph g = finish(attention(q, k, b.rms_norm(k, ones, 1e-6f)));
    EXPECT_EQ(run(qk(), g), 1u);
    return g;
  }
  /// Without norms.
  Graph of_one_product(ValueId held, ValueId of_queries, ValueId of_keys) {
    const ValueId q = b.linear(x, weight("q", {8, 8})), k = b.linear(x, weight("k", {8, 8}));
    const ValueId v = b.linear(x, weight("v", {8, 8}));
    const ValueId kv = b.kv_append(b.rope(k, of_keys, 8), v, held, pages);
    Graph g = finish(b.attention(b.rope(q, of_queries, 8), kv, pages, {}));
    EXPECT_EQ(run(qkv(), g), 1u);
    return g;
  }
};

TEST_F(AttentionTest, GateOfAttentionStaysColumnsOfItsRow) {
  const ValueId q = b.linear(x, weight("q", {16, 8})), k = b.linear(x, weight("k", {8, 8}));
  const ValueId v = b.linear(x, weight("v", {8, 8})), gate = b.linear(x, weight("g", {16, 8}));
  const ValueId y = b.glu(Activation::kSigmoid, gate, attention(q, k, v));
  Graph g = finish(b.add(x, b.linear(y, weight("o", {8, 16}))));
  ASSERT_EQ(run(qkv(), g), 1u);
  EXPECT_NE(nodes_text(g).find("{q_rows=16, k_rows=8, v_rows=8}"), std::string::npos);
  ASSERT_EQ(run(step_attention(), g), 1u);
  EXPECT_EQ(run(gate_linear(), g), 1u);
  EXPECT_EQ(run(split_attention(), g), 1u);
  EXPECT_EQ(run(residual(), g), 1u);
  EXPECT_EQ(
      nodes_text(g),
      before + "%1: f32[T,48] = linear %0, @q.qkv\n" +
          "%2: f32[T,160], %3: f16[32,2,1,8] = step_attention %1, @angles, @kv, @pages, "
          "@qn.heads" +
          attributes_text(StepAttention{.heads = 2, .eps = 1e-6f, .scale = 0.5f, .splits = 8}) +
          "\n%4: f32[T,8] = fused_linear %2, @o, %1, %0" +
          attributes({.prologue = Prologue::kMergeSplits,
                      .epilogue = Epilogue::kAdd,
                      .splits = 8,
                      .activation = Activation::kSigmoid,
                      .gated = true,
                      .first = 32}) +
          "return %4\n");
}

/// Values are normed without weights.
TEST_F(AttentionTest, RowsAreNormedTurnedAndAppendedAtOnce) {
  const ValueId q = b.linear(x, weight("q", {16, 8})), k = b.linear(x, weight("k", {8, 8}));
  const ValueId ones = b.constant("ones", {8}, DType::kF32, Fill{1});
  const ValueId v = b.rms_norm(b.linear(x, weight("v", {8, 8})), ones, 1e-6f);
  Graph g = finish(attention(q, k, v));
  ASSERT_EQ(run(qkv(), g), 1u);
  EXPECT_EQ(run(rope_append(), g), 1u);
  EXPECT_EQ(
      nodes_text(g),
      before + "%1: f32[T,32] = linear %0, @q.qkv\n" +
          "%2: f32[T,16], %3: f16[32,2,1,8] = rope_append %1, @angles, @kv, @pages, @qn.heads" +
          attributes_text(RopeAppend{.heads = 2, .head_dim = 8, .norm_v = true, .eps = 1e-6f}) +
          "\n%4: f32[T,16] = attention %2, %3, @pages" + attributes_text(Attention{.scale = 0.5f}) +
          "\nreturn %4\n");
}

TEST_F(AttentionTest, RowsMayHaveKeysThatAreValuesBeforeTheirNorm) {
  Graph g = of_keys_that_are_values();
  EXPECT_EQ(run(rope_append(), g), 1u);
  EXPECT_NE(nodes_text(g).find("%1: f32[T,24] = linear"), std::string::npos) << nodes_text(g);
  EXPECT_NE(nodes_text(g).find("k_is_v=true, norm_v=true"), std::string::npos) << nodes_text(g);
}

TEST_F(AttentionTest, QueriesOfAnotherLayersCacheAreNormedAndTurnedAtOnce) {
  Graph g = finish(b.attention(turned(x, "qn"), cache, pages, {}));
  EXPECT_EQ(run(rope_append(), g), 1u);
  EXPECT_NE(nodes_text(g).find("= rope_append %0, @angles, @qn"), std::string::npos)
      << nodes_text(g);
}

TEST_F(AttentionTest, RowsWithoutNormsAreTurnedAndAppendedAtOnce) {
  Graph g = of_one_product(cache, angles, angles);
  EXPECT_EQ(run(rope_append(), g), 1u);
  EXPECT_EQ(nodes_text(g).find("= rope "), std::string::npos) << nodes_text(g);
}

TEST_F(AttentionTest, RowsAreTurnedAndAppendedToACacheOfBytesAtOnce) {
  const ValueId bytes = b.kv_cache("bytes", kQ8Cache, 32, 1, 8);
  Graph g = of_one_product(bytes, angles, angles);
  EXPECT_EQ(run(rope_append(), g), 1u);
}

TEST_F(AttentionTest, RowsWithAnglesOfTheirOwnAreTurnedOneByOne) {
  const ValueId own = b.row_input("own", 8);
  expect_alone(rope_append(), of_one_product(cache, own, own));
}

TEST_F(AttentionTest, RowsWhoseKeysHaveOtherAnglesAreTurnedOneByOne) {
  const ValueId other = b.constant("other", {32, 8}, DType::kF32, RopeTable{{2, 2, 2, 2}});
  expect_alone(rope_append(), of_one_product(cache, angles, other));
}

TEST_F(AttentionTest, RowsOfSeveralProductsAreTurnedOneByOne) {
  const ValueId kv = b.kv_append(b.rope(x, angles, 8), x, cache, pages);
  expect_alone(rope_append(), finish(b.attention(b.rope(x, angles, 8), kv, pages, {})));
}

TEST_F(AttentionTest, ValuesMayBeKeysBeforeTheirNorm) {
  Graph g = of_keys_that_are_values();
  EXPECT_EQ(run(step_attention(), g), 1u);
  EXPECT_EQ(nodes_text(g),
            before + "%1: f32[T,24] = linear %0, @q.qk\n" +
                "%2: f32[T,16], %3: f16[32,2,1,8] = step_attention %1, @angles, @kv, @pages, "
                "@qn.heads" +
                attributes_text(StepAttention{
                    .heads = 2, .k_is_v = true, .norm_v = true, .eps = 1e-6f, .scale = 0.5f}) +
                "\nreturn %2\n");
}

TEST_F(HybridTest, GateIsTheEndingOfItsProduct) {
  const ValueId wide = b.linear(x, weight("wide", {12, 8}));
  const ValueId gate = b.linear(x, weight("w", {4, 8}));
  Graph g = finish(b.glu(Activation::kGeluTanh, gate, b.columns(wide, 3, 4)));
  EXPECT_EQ(run(linear_gate(), g), 1u);
  EXPECT_EQ(
      nodes_text(g),
      before + "%1: f32[T,12] = linear %0, @wide\n%2: f32[T,4] = fused_linear %0, @w, %1" +
          attributes(
              {.epilogue = Epilogue::kGate, .activation = Activation::kGeluTanh, .first = 3}) +
          "return %2\n");
}

TEST_F(HybridTest, ColumnsThatAreGatedAreReadWhereTheyLie) {
  const ValueId wide = b.linear(x, weight("wide", {12, 8}));
  Graph g = finish(b.glu(Activation::kSilu, x, b.columns(wide, 3, 8)));
  EXPECT_EQ(run(glu_columns(), g), 1u);
  EXPECT_EQ(nodes_text(g), before + "%1: f32[T,12] = linear %0, @wide\n" +
                               "%2: f32[T,8] = glu %0, %1" +
                               attributes_text(Glu{Activation::kSilu, 3}) + "\nreturn %2\n");
}

TEST_F(HybridTest, AProductThatGatesItselfStaysAlone) {
  const ValueId l = b.linear(x, weight("w", {8, 8}));
  expect_alone(linear_gate(), finish(b.glu(Activation::kSilu, l, l)));
}

/// Kernels read gates in fours.
TEST_F(HybridTest, GateInFrontOfAProductIsCopiedFromOddColumns) {
  const ValueId wide = b.linear(x, weight("wide", {12, 8}));
  const ValueId y = b.glu(Activation::kSilu, b.columns(wide, 3, 8), x);
  Graph g = finish(b.linear(y, weight("w", {4, 8})));
  EXPECT_EQ(run(gate_linear(), g), 1u);
  EXPECT_EQ(nodes_text(g), before + "%1: f32[T,12] = linear %0, @wide\n" +
                               "%2: f32[T,8] = columns %1 {first=3, count=8}\n" +
                               "%3: f32[T,4] = fused_linear %0, @w, %2" +
                               attributes({.gated = true}) + "return %3\n");
}

TEST_F(HybridTest, HeadNormLeavesAProductWithoutAGateAlone) {
  const ValueId n = b.rms_norm(x, vector("head", 4), 1e-6f);
  Graph g = finish(b.add(x, b.linear(n, weight("w", {8, 8}))));
  ASSERT_EQ(run(residual(), g), 1u);
  expect_alone(head_norm(), g);
}

/// A sum of Gemma 4 that a gate's product reads as it is, and one that is scaled.
TEST_F(HybridTest, SumsAreMadeInFrontOfWhatReadsThem) {
  const ValueId s = b.add(x, b.rms_norm(b.linear(x, weight("d", {8, 8})), vector("u", 8), 1e-6f));
  const ValueId gated = b.glu(Activation::kGeluTanh, b.linear(s, weight("gate", {8, 8})), x);
  const ValueId n = b.rms_norm(b.linear(gated, weight("p", {8, 8})), vector("v", 8), 1e-6f);
  const ValueId scaled = b.scale(b.add(s, n), 1, vector("k", 1));
  const ValueId normed = b.rms_norm(scaled, vector("w", 8), 1e-6f);
  Graph g = finish(b.linear(normed, weight("next", {16, 8})));
  EXPECT_EQ(run(linear_gate(), g), 1u);
  EXPECT_EQ(run(norm_linear(), g), 1u);
  EXPECT_EQ(run(norm_add_norm(), g), 2u);
  EXPECT_EQ(nodes_text(g),
            before + "%1: f32[T,8] = linear %0, @d\n" +
                "%2: f32[T,8], %3: f32[T,8] = fused_linear %1, @gate, %0, @u, %0" +
                attributes({.prologue = Prologue::kNormAdd,
                            .epilogue = Epilogue::kGate,
                            .eps = 1e-6f,
                            .activation = Activation::kGeluTanh}) +
                "%4: f32[T,8] = linear %2, @p\n" +
                "%5: f32[T,16], %6: f32[T,8] = fused_linear %4, @next, %3, @v.norms, @k" +
                attributes({.prologue = Prologue::kNormAddNorm, .eps = 1e-6f, .scaled = true}) +
                "return %5\n");
}

/// Packed weights are bound twice, so that these would be nine operands.
TEST_F(HybridTest, SumsStayInFrontOfABiasAndAGate) {
  const ValueId s = b.add(x, b.rms_norm(b.linear(x, weight("d", {8, 8})), vector("u", 8), 1e-6f));
  const ValueId y = b.linear(s, weight("gate", {8, 8}), vector("bias", 8));
  Graph g = finish(b.glu(Activation::kGeluTanh, y, x));
  ASSERT_EQ(run(linear_gate(), g), 1u);
  expect_alone(norm_add_norm(), g);
  EXPECT_EQ(run(norm_add_norm(), g, {.max_bindings = 9}), 1u) << "a target that binds nine";
}

struct ExpertTest : HybridTest {
  GraphBuilder::Routed routed = {};

  ValueId experts(ValueId n, DType up_type = DType::kBF16) {
    routed = b.route(b.scale(b.linear(n, weight("router", {2, 8})), 0.5f), {.top_k = 1});
    const auto rows = [&](const char* name, uint32_t first, DType dtype) {
      const Weight parts{{{"gu", first, 8}, {"gu", first + 16, 8}}, RowOrder::kConcat};
      return b.constant(name, {16, 8}, dtype, parts);
    };
    const ValueId gate = b.expert_linear(n, rows("gate", 0, DType::kBF16), routed.chosen, 2);
    const ValueId up = b.expert_linear(n, rows("up", 8, up_type), routed.chosen, 2);
    const ValueId h = b.glu(Activation::kSilu, gate, up);
    return b.expert_linear(h, weight("down", {16, 8}), routed.chosen, 2);
  }
};

TEST_F(ExpertTest, ExpertsAreTwoProducts) {
  const ValueId d = experts(b.rms_norm(x, vector("norm", 8), 1e-6f));
  Graph g = finish(b.add(x, b.expert_sum(d, routed.shares)));
  EXPECT_EQ(run(scale_route(), g), 1u);
  EXPECT_EQ(run(expert_glu(), g), 1u);
  EXPECT_NE(to_text(g).find(R"(bf16[32,8] = concat "gu"[0:8] "gu"[8:16] "gu"[16:24] "gu"[24:32])"),
            std::string::npos)
      << to_text(g);
  EXPECT_EQ(run(expert_mix(), g), 2u);
  EXPECT_EQ(run(norm_linear(), g), 1u);
  EXPECT_EQ(run(norm_experts(), g), 1u);
  EXPECT_EQ(nodes_text(g), before + "%1: f32[T,2] = fused_linear %0, @router, @norm" +
                               attributes({.prologue = Prologue::kNorm, .eps = 1e-6f}) +
                               "%2: f32[T,1], %3: u32[T,1] = route %1" +
                               attributes_text(Route{.top_k = 1, .factor = 0.5f}) + R"(
%4: f32[T,8] = expert_glu %0, @gate.gate_up, %3, @norm {experts=2, activation=silu, norm=true, eps=1e-06, bias=false, limit=0}
%5: f32[T,8] = expert_mix %4, @down, %3, %2, %0 {experts=2, bias=false}
return %5
)");
}

TEST_F(ExpertTest, BiasesAndClampedGatesAreTaken) {
  const ValueId n = b.rms_norm(x, vector("norm", 8), 1e-6f);
  routed = b.route(b.linear(n, weight("router", {2, 8})), {.top_k = 1});
  const auto product = [&](ValueId in, const char* name, const char* bias) {
    const Weight whole{{WeightPart(std::string("all.") + name)}};
    const ValueId w = b.constant(name, {16, 8}, DType::kBF16, whole);
    const std::vector<ValueId> inputs = {in, w, routed.chosen, vector(bias, 16)};
    return b.add_node(ExpertLinear{2}, inputs).front();
  };
  const ValueId gate = b.clamp(product(n, "gate", "gate_bias"), -3e38f, 7);
  const ValueId up = b.clamp(product(n, "up", "up_bias"), -7, 7);
  const ValueId turned = b.glu(Activation::kSigmoid, b.scale(gate, 1.702f), gate);
  const ValueId h = b.add(b.glu(Activation::kIdentity, turned, up), turned);
  const ValueId d = product(h, "down", "down_bias");
  Graph g = finish(b.add(x, b.expert_sum(d, routed.shares)));
  EXPECT_EQ(run(expert_glu(), g), 1u);
  const std::string both =
      R"(concat "all.gate"[0:8] "all.up"[0:8] "all.gate"[8:16] "all.up"[8:16])";
  EXPECT_NE(to_text(g).find(both), std::string::npos) << to_text(g);
  EXPECT_EQ(run(expert_mix(), g), 2u);
  EXPECT_EQ(run(norm_linear(), g), 1u);
  EXPECT_EQ(run(norm_experts(), g), 1u);
  EXPECT_NE(nodes_text(g).find(R"(
%4: f32[T,8] = expert_glu %0, @gate.gate_up, %3, @norm, @gate_bias.gate_up {experts=2, activation=sigmoid, norm=true, eps=1e-06, bias=true, limit=7}
%5: f32[T,8] = expert_mix %4, @down, %3, %2, @down_bias, %0 {experts=2, bias=true}
)"),
            std::string::npos)
      << nodes_text(g);
}

TEST_F(ExpertTest, OtherLimitsStayAsTheyAre) {
  const auto product = [&](const char* name) {
    return b.expert_linear(x, weight(name, {16, 8}), routed.chosen, 2);
  };
  routed = b.route(b.linear(x, weight("router", {2, 8})), {.top_k = 1});
  const ValueId gate = b.clamp(product("gate"), -3e38f, 7), up = b.clamp(product("up"), -6, 7);
  const ValueId turned = b.glu(Activation::kSigmoid, b.scale(gate, 1.702f), gate);
  const ValueId h = b.add(b.glu(Activation::kIdentity, turned, up), turned);
  const ValueId d = b.expert_linear(h, weight("down", {16, 8}), routed.chosen, 2);
  expect_alone(expert_glu(), finish(b.expert_sum(d, routed.shares)));
}

TEST_F(ExpertTest, ExpertsOfMixedTypesStayAsTheyAre) {
  const ValueId d = experts(x, DType::kF16);
  expect_alone(expert_glu(), finish(b.expert_sum(d, routed.shares)));
}

}  // namespace
}  // namespace tokamak::fuse
