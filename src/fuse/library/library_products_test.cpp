// library_products as text before and after. What the rounding costs is tests/invariants' business.
#include "fuse/library/library_passes.h"
#include "fuse/pass_test.h"

namespace tokamak::fuse {
namespace {

struct LibraryProductsTest : PassTest {
  const Target library = {.has_library = true, .min_library_weights = 0};

  /// The norm of x that a layer reads, in as many rows as the library takes.
  Graph layer(DType dtype) {
    const auto parts = b.add_node(Qkv{16, 8}, {x, weight("qkv", {32, 8}, dtype)});
    const ValueId all = b.add(parts[1], parts[2]);
    const ValueId glu = b.add_node(LinearGlu{}, {all, weight("gate_up", {32, 8}, dtype)}).front();
    const ValueId y = b.linear(glu, weight("down", {8, 16}, dtype));
    return finish(b.add_node(BlockArgmax{}, {b.linear(b.last_row(y), table)}).front());
  }
};

TEST_F(LibraryProductsTest, RoundsWhatIsReadOnceAndLeavesOutputRowsAlone) {
  Graph g = layer(DType::kBF16);
  EXPECT_EQ(run(library_products(), g, library), 2u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: bf16[T,8] = to_half %0 {activation=identity, type=bf16}
%2: f32[T,8] = half_linear %1, @qkv {first=16, rows=8, rounded=false}
%3: f32[T,8] = half_linear %1, @qkv {first=24, rows=8, rounded=false}
%4: f32[T,8] = add %2, %3
%5: bf16[T,8] = to_half %4 {activation=identity, type=bf16}
%6: f32[T,32] = half_linear %5, @gate_up {first=0, rows=32, rounded=false}
%7: bf16[T,16] = pair_glu %6 {activation=silu, type=bf16}
%8: f32[T,8] = half_linear %7, @down {first=0, rows=8, rounded=false}
%9: f32[O,8] = last_row %8
%10: f32[O,32] = linear %9, @table
%11: f32[O,2] = block_argmax %10
return %11
)");
}

TEST_F(LibraryProductsTest, MakesBf16OfOtherWeights) {
  Graph g = layer(DType::kF16);
  EXPECT_EQ(run(library_products(), g, library), 2u);
  const std::string text = nodes_text(g);
  for (const char* line :
       {"%2: bf16[32,8] = to_half @qkv {activation=identity, type=bf16}\n%3: f32[T,8] = "
        "half_linear %1, %2 {first=16, rows=8, rounded=false}\n",
        "%7: bf16[32,8] = to_half @gate_up {activation=identity, type=bf16}\n",
        "%10: bf16[8,16] = to_half @down {activation=identity, type=bf16}\n"}) {
    EXPECT_NE(text.find(line), text.npos) << line << text;
  }
}

TEST_F(LibraryProductsTest, MultipliesF16WhereTheModelFits) {
  Graph g = layer(DType::kF16);
  EXPECT_EQ(run(library_products(), g, in_f16(library)), 2u);
  const std::string text = nodes_text(g);
  EXPECT_NE(text.find("%1: f16[T,8] = to_half %0 {activation=identity, type=f16}\n"
                      "%2: f32[T,8] = half_linear %1, @qkv {first=16, rows=8, rounded=false}\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find(": f16[T,16] = pair_glu "), text.npos) << text;
}

TEST_F(LibraryProductsTest, LeavesRowsThatAreNoEightsAlone) {
  const auto parts = b.add_node(Qkv{12, 4}, {x, weight("qkv", {24, 8})});
  const Graph g = finish(b.add(parts[1], b.linear(x, weight("w", {4, 8}))));
  const std::string before = to_text(g);
  Graph after = g;
  EXPECT_EQ(run(library_products(), after, library), 0u);
  EXPECT_EQ(to_text(after), before);
}

TEST_F(LibraryProductsTest, LeavesMatricesOfFewWeightsAlone) {
  Graph g = layer(DType::kBF16);
  Target picky = library;
  picky.min_library_weights = 8 * 16 + 1;  // more than `down` has
  EXPECT_EQ(run(library_products(), g, picky), 1u);
  EXPECT_NE(nodes_text(g).find("= linear_glu "), std::string::npos);
}

TEST_F(LibraryProductsTest, LeavesDevicesWithoutALibraryAlone) {
  expect_alone(library_products(), layer(DType::kBF16));
}

using ReduceNormTest = PassTest;

TEST_F(ReduceNormTest, NormsOfWholeRowsJoinTheSum) {
  const auto graph = [&](uint32_t width) {
    const ValueId sum = b.add_node(AllReduce{.ranks = 2, .parts = 1, .last = true}, {x, x}).front();
    const ValueId norm = b.rms_norm(sum, weight("w", {width}, DType::kF32), 1e-3f);
    return finish(b.add(sum, norm));
  };
  Graph g = graph(8);
  EXPECT_EQ(run(reduce_norm(), g), 1u);
  EXPECT_EQ(nodes_text(g), R"(%0: f32[T,8] = embed @tokens, @table {scale=1}
%1: f32[T,8], %2: f32[T,8] = all_reduce_norm %0, %0, @w {ranks=2, parts=1, last=true, eps=0.001}
%3: f32[T,8] = add %1, %2
return %3
)");
}

TEST_F(ReduceNormTest, NormsOfHeadsDoNot) {
  const ValueId sum = b.add_node(AllReduce{.ranks = 2}, {x, x}).front();
  Graph g = finish(b.rms_norm(sum, weight("w", {4}, DType::kF32), 1e-3f));
  EXPECT_EQ(run(reduce_norm(), g), 0u);
}

}  // namespace
}  // namespace tokamak::fuse
