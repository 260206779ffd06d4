// The effect of passes on layer_norm, and of rounded_norm on all norms, as text before and after.
#include "fuse/library/library_passes.h"
#include "fuse/pass_test.h"
#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

struct LayerNormPassesTest : PassTest {
  const Target library = {.has_library = true, .min_library_weights = 0};

  ValueId layer_norm(ValueId of) { return b.layer_norm(of, vector("w", 8), 1e-6f, vector("c", 8)); }
};

TEST_F(LayerNormPassesTest, AddLayerNormDropsTheSumThatNothingElseReads) {
  Graph g = finish(layer_norm(b.add(x, x)));
  EXPECT_EQ(run(add_layer_norm(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8] = fused_norm %0, %0, @w, @c {eps=1e-06, centered=true, adds=true, rounded=none, summed=false, plain=false}
return %1
)");
}

TEST_F(LayerNormPassesTest, AddLayerNormKeepsTheSumThatIsAddedToLater) {
  const ValueId sum = b.add(x, x);
  Graph g = finish(b.add(sum, layer_norm(sum)));
  EXPECT_EQ(run(add_layer_norm(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8], %2: f32[T,8] = fused_norm %0, %0, @w, @c {eps=1e-06, centered=true, adds=true, rounded=none, summed=true, plain=false}
%3: f32[T,8] = add %2, %1
return %3
)");
}

TEST_F(LayerNormPassesTest, AddLayerNormLeavesAPlainNormAlone) {
  expect_alone(add_layer_norm(), finish(layer_norm(x)));
}

TEST_F(LayerNormPassesTest, AddLayerNormLeavesANormPerHeadAlone) {
  expect_alone(add_layer_norm(), finish(b.layer_norm(b.add(x, x), vector("w", 4), 1e-6f)));
}

TEST_F(LayerNormPassesTest, RoundedNormKeepsWhatIsReadBesideTheProduct) {
  const ValueId norm = layer_norm(b.add(x, x));
  Graph g = finish(b.add(norm, b.linear(norm, weight("m", {8, 8}))));
  run(add_layer_norm(), g);
  run(library_products(), g, library);
  EXPECT_EQ(run(rounded_norm(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: bf16[T,8], %2: f32[T,8] = fused_norm %0, %0, @w, @c {eps=1e-06, centered=true, adds=true, rounded=bf16, summed=false, plain=true}
%3: f32[T,8] = half_linear %1, @m {first=0, rows=8, rounded=false}
%4: f32[T,8] = add %2, %3
return %4
)");
}

TEST_F(LayerNormPassesTest, RoundedNormKeepsTheSumAndDropsTheNorm) {
  const ValueId sum = b.add(x, x);
  const ValueId norm = b.rms_norm(sum, vector("w", 8), 1e-6f);
  Graph g = finish(b.add(sum, b.linear(norm, weight("m", {8, 8}))));
  run(add_rms_norm(), g);
  run(library_products(), g, library);
  EXPECT_EQ(run(rounded_norm(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: bf16[T,8], %2: f32[T,8] = fused_norm %0, %0, @w {eps=1e-06, centered=false, adds=true, rounded=bf16, summed=true, plain=false}
%3: f32[T,8] = half_linear %1, @m {first=0, rows=8, rounded=false}
%4: f32[T,8] = add %2, %3
return %4
)");
}

TEST_F(LayerNormPassesTest, NormAddTakesTheFactorAndTheNormAfterIt) {
  const ValueId n = b.rms_norm(x, vector("u", 8), 1e-6f);
  const ValueId s = b.scale(b.add(x, n), 0.5f, vector("k", 1));
  Graph g = finish(b.add(s, b.rms_norm(s, vector("v", 8), 1e-6f)));
  EXPECT_EQ(run(norm_add(), g), 3u);
  EXPECT_EQ(nodes_text(g),
            "%0: f32[T,8] = embed @tokens, @table {scale=1}\n%1: f32[T,8], %2: f32[T,8] = norm_add "
            "%0, %0, @u, @k, @v" +
                attributes_text(NormAdd{1e-6f, 0.5f, true, true}) +
                "\n%3: f32[T,8] = add %2, %1\nreturn %3\n");
}

/// The norms of Gemma 4's per-layer embeddings, which are per layer.
TEST_F(LayerNormPassesTest, NormAddTakesNormsOfHeads) {
  const ValueId n = b.rms_norm(x, vector("u", 4), 1e-6f);
  Graph g = finish(b.scale(b.add(n, x), 0.5f));
  EXPECT_EQ(run(norm_add(), g), 2u);
  EXPECT_EQ(nodes_text(g),
            "%0: f32[T,8] = embed @tokens, @table {scale=1}\n%1: f32[T,8] = norm_add %0, %0, @u" +
                attributes_text(NormAdd{1e-6f, 0.5f}) + "\nreturn %1\n");
}

TEST_F(LayerNormPassesTest, NormAddLeavesNormsOfHeadsAndOfAnotherEpsAfterIt) {
  const ValueId s = b.add(x, b.rms_norm(x, vector("u", 8), 1e-6f));
  const ValueId heads = b.softcap(b.rms_norm(s, vector("v", 4), 1e-6f), 3);
  Graph g = finish(b.add(heads, b.softcap(b.rms_norm(s, vector("w", 8), 1e-5f), 3)));
  EXPECT_EQ(run(norm_add(), g), 1u);
  EXPECT_NE(nodes_text(g).find("%2: f32[T,8] = rms_norm %1, @v"), std::string::npos)
      << nodes_text(g);
}

TEST_F(LayerNormPassesTest, NormAddLeavesANormThatIsReadElsewhereAlone) {
  const ValueId n = b.rms_norm(x, vector("u", 8), 1e-6f);
  expect_alone(norm_add(), finish(b.scale(b.add(b.add(x, n), n), 0.5f)));
}

TEST_F(LayerNormPassesTest, RoundedNormTakesTheNormOfAnAddedNorm) {
  const ValueId sum = b.add(x, b.rms_norm(x, vector("u", 8), 1e-6f));
  const ValueId norm = b.rms_norm(sum, vector("w", 8), 1e-6f);
  Graph g = finish(b.add(sum, b.linear(norm, weight("m", {8, 8}))));
  run(norm_add(), g);
  run(library_products(), g, library);
  EXPECT_EQ(run(rounded_norm(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: bf16[T,8], %2: f32[T,8] = norm_add %0, %0, @u, @w {eps=1e-06, factor=1, scaled=false, normed=true, rounded=bf16}
%3: f32[T,8] = half_linear %1, @m {first=0, rows=8, rounded=false}
%4: f32[T,8] = add %2, %3
return %4
)");
}

TEST_F(LayerNormPassesTest, RoundedNormLeavesAnAddedNormThatIsReadElsewhere) {
  const ValueId norm =
      b.rms_norm(b.add(x, b.rms_norm(x, vector("u", 8), 1e-6f)), vector("w", 8), 1e-6f);
  Graph g = finish(b.add(norm, b.linear(norm, weight("m", {8, 8}))));
  ASSERT_EQ(run(norm_add(), g), 2u);
  ASSERT_EQ(run(library_products(), g, library), 1u);
  expect_alone(rounded_norm(), g);
}

TEST_F(LayerNormPassesTest, RoundedNormLeavesRoundedActivationsAlone) {
  const ValueId active = b.activate(Activation::kTanh, layer_norm(x));
  Graph g = finish(b.linear(active, weight("m", {8, 8}), vector("d", 8)));
  EXPECT_EQ(run(library_products(), g, library), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8] = layer_norm %0, @w, @c {eps=1e-06}
%2: bf16[T,8] = to_half %1 {activation=tanh, type=bf16}
%3: f32[T,8] = half_linear %2, @m, @d {first=0, rows=8, rounded=false}
return %3
)");
  expect_alone(rounded_norm(), std::move(g));
}

TEST_F(LayerNormPassesTest, NormLinearFoldsALayerNormWithItsBias) {
  Graph g = finish(b.linear(layer_norm(x), weight("m", {8, 8}), vector("d", 8)));
  EXPECT_EQ(run(norm_linear(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8] = fused_linear %0, @m, @d, @w.norm {prologue=layer_norm, epilogue=none, bias=true, eps=1e-06, splits=0, activation=silu, softcap=0, scaled=false, gated=false, first=0, clears=false}
return %1
)");
}

}  // namespace
}  // namespace tokamak::fuse
