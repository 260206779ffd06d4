// rounded_results as text before and after.
#include "fuse/library/library_passes.h"
#include "fuse/pass_test.h"

namespace tokamak::fuse {
namespace {

struct RoundedResultsTest : PassTest {
  const Target library = {.has_library = true, .min_library_weights = 0};

  Graph finished(ValueId y) {
    return finish(b.add_node(BlockArgmax{}, {b.linear(b.last_row(y), table)}).front());
  }
  /// The products as the library has them.
  Graph with_products(ValueId y) {
    Graph g = finished(y);
    run(library_products(), g, library);
    return g;
  }
};

TEST_F(RoundedResultsTest, RoundsGatedProducts) {
  const ValueId glu =
      b.add_node(LinearGlu{}, {x, weight("gate_up", {32, 8}, DType::kBF16)}).front();
  Graph g = with_products(b.linear(glu, weight("down", {8, 16}, DType::kBF16)));
  EXPECT_EQ(run(rounded_results(), g), 1u);
  EXPECT_NE(nodes_text(g).find(
                "%2: bf16[T,32] = half_linear %1, @gate_up {first=0, rows=32, rounded=true}\n"
                "%3: bf16[T,16] = pair_glu %2 {activation=silu, type=bf16}\n"),
            std::string::npos)
      << nodes_text(g);
}

TEST_F(RoundedResultsTest, AddsABiasAfterwards) {
  const ValueId up = b.linear(x, weight("up", {16, 8}, DType::kBF16), vector("c", 16));
  const ValueId act = b.add_node(Activate{Activation::kGeluTanh}, {up}).front();
  Graph g = with_products(b.linear(act, weight("down", {8, 16}, DType::kBF16)));
  EXPECT_EQ(run(rounded_results(), g), 1u);
  EXPECT_NE(
      nodes_text(g).find("%2: bf16[T,16] = half_linear %1, @up {first=0, rows=16, rounded=true}\n"
                         "%3: bf16[T,16] = to_half %2, @c {activation=gelu_tanh, type=bf16}\n"),
      std::string::npos)
      << nodes_text(g);
}

TEST_F(RoundedResultsTest, RoundsAttention) {
  const ValueId cache = b.kv_cache("kv", DType::kF16, 32, 1, 8), pages = b.input("pages", {2});
  const ValueId kv = b.kv_append(x, x, cache, pages);
  const ValueId seen = b.attention(x, kv, pages, {.scale = 0.5f});
  Graph g = with_products(b.linear(seen, weight("o", {8, 8})));
  EXPECT_EQ(run(rounded_results(), g), 1u);
  EXPECT_NE(nodes_text(g).find(": bf16[T,8] = attention %0, %1, @pages {scale=0.5, window=0, "
                               "chunks=false, softcap=0, causal=true, rounded=bf16}\n"),
            std::string::npos)
      << nodes_text(g);
}

TEST_F(RoundedResultsTest, RoundsGatesWithTheNormOfHeads) {
  const ValueId heads = b.rms_norm(x, vector("norm", 4), 1e-6f);
  const ValueId gate = b.linear(x, weight("gate", {8, 8}, DType::kBF16));
  Graph g = with_products(
      b.linear(b.glu(Activation::kSilu, gate, heads), weight("o", {8, 8}, DType::kBF16)));
  EXPECT_EQ(run(rounded_gate(), g), 1u);
  EXPECT_NE(nodes_text(g).find(": bf16[T,8] = gated_half %2, %0, @norm {activation=silu, first=0, "
                               "eps=1e-06, type=bf16}\n"),
            std::string::npos)
      << nodes_text(g);
}

TEST_F(RoundedResultsTest, RoundsGatesOfHeadsThatNoSubgroupHasWithoutTheirNorm) {
  const ValueId wide = b.linear(x, weight("up", {24, 8}, DType::kBF16));
  const ValueId gate = b.linear(x, weight("gate", {24, 8}, DType::kBF16));
  const ValueId heads = b.rms_norm(wide, vector("norm", 24), 1e-6f);
  Graph g = with_products(
      b.linear(b.glu(Activation::kSilu, gate, heads), weight("o", {8, 24}, DType::kBF16)));
  EXPECT_EQ(run(rounded_gate(), g), 1u);
  EXPECT_NE(nodes_text(g).find("rms_norm"), std::string::npos) << nodes_text(g);
}

TEST_F(RoundedResultsTest, LeavesAloneWhatIsReadOtherwise) {
  const ValueId up = b.linear(x, weight("up", {8, 8}, DType::kBF16));
  const ValueId act = b.add_node(Activate{Activation::kGeluTanh}, {up}).front();
  Graph g = with_products(b.add(up, b.linear(act, weight("down", {8, 8}, DType::kBF16))));
  EXPECT_EQ(run(rounded_results(), g), 0u);
}

}  // namespace
}  // namespace tokamak::fuse
