// States: how a graph declares them, and how its text implies them.
#include "graph/state.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/kv_cache.h"
#include "graph/text.h"

namespace tokamak {
namespace {

const TensorDesc& value_of(const Graph& graph, std::string_view name) {
  for (const TensorDesc& value : graph.values) {
    if (value.name == name) return value;
  }
  ADD_FAILURE() << name;
  return graph.values.front();
}

/// A layer of each kind, and the choice of a token.
Graph all_kinds() {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId x = b.embed(tokens, b.constant("e", {8, 8}, DType::kF32, Weight{{"e"}}));
  const ValueId taps = b.constant("taps", {8, 3}, DType::kF32, Weight{{"taps"}});
  const ValueId y = b.short_conv(x, taps, b.recurrent("rows", {2, 8}), Activation::kSilu);
  const ValueId pages = b.input("pages", {4}), recent = b.input("pages.32", {4}, 32);
  const ValueId all = b.kv_append(y, y, b.kv_cache("kv.0", DType::kF16, 64, 2, 4), pages);
  const ValueId seen = b.attention(y, all, pages, {});
  const ValueId last = b.kv_append(seen, seen, b.kv_cache("kv.1", kQ8Cache, 48, 1, 8, 32), recent);
  const ValueId z = b.attention(seen, last, recent, {.window = 32});
  const ValueId rows = b.latent_append(y, y, b.latent_cache("kv.2", DType::kF16, 64, 8, 8), pages);
  const ValueId u = b.latent_attention(z, y, rows, pages, 0.5f);
  const ValueId best = b.add_node(BlockArgmax{}, {u})[0];
  const ValueId ids = b.sampled("ids", {16}, DType::kF32);
  auto graph = b.finish(b.add_node(NextToken{}, {best, ids})[0]);
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}

TEST(GraphStates, ATextImpliesThemByTheOpsThatTakeThem) {
  const Graph graph = all_kinds();
  auto parsed = parse_graph(to_text(graph));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(value_of(*parsed, "rows").state, StateSpec{StateKind::kRecurrent});
  EXPECT_EQ(value_of(*parsed, "ids").state, StateSpec{StateKind::kSampled});
  EXPECT_EQ(value_of(*parsed, "kv.0").state,
            (StateSpec{StateKind::kPages, {{"k", 2, 4}, {"v", 2, 4}}}));
  EXPECT_EQ(value_of(*parsed, "kv.1").state,
            (StateSpec{StateKind::kRing, {{"k", 1, 8}, {"v", 1, 8}}}));
  EXPECT_EQ(value_of(*parsed, "kv.2").state,
            (StateSpec{StateKind::kPages, {{"latent", 1, 8}, {"turned", 1, 8}}}));
  for (const TensorDesc& value : graph.values) {
    if (!value.name.empty()) {
      EXPECT_EQ(value_of(*parsed, value.name), value) << value.name;
    }
  }
}

TEST(GraphStates, AStateOfTheRightShapeAndTheWrongKindIsRefused) {
  GraphBuilder b;
  const ValueId x =
      b.embed(b.input("tokens", {kTokens}), b.constant("e", {8, 8}, DType::kF32, Weight{{"e"}}));
  const ValueId rows = b.recurrent("rows", {64, 2, 1, 8});
  const auto graph = b.finish(b.kv_append(x, x, rows, b.input("pages", {4})));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "kv_append: operand 2 is f32[64,2,1,8], expected a cache [cells, 2, kv_heads, "
            "head_dim] of whole pages");
}

TEST(GraphStates, AStateThatNoOpTakesAsOneIsRefused) {
  const auto graph = parse_graph(
      "input @tokens: u32[T]\n"
      "const @e: f32[8,8] = weight \"e\"\n"
      "state @s: f32[2,8]\n"
      "%0: f32[T,8] = embed @tokens, @e {scale=1}\n"
      "return %0\n");
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "Graph: state \"s\" is of no kind; expected an op that takes it as its state.");
}

TEST(GraphStates, AQ8CacheHasAStepForEachHead) {
  const auto error = [](Dim heads, Dim width) -> std::string {
    GraphBuilder b;
    const ValueId tokens = b.input("tokens", {kTokens});
    const ValueId x = b.embed(tokens, b.constant("e", {8, 8}, DType::kF32, Weight{{"e"}}));
    const ValueId pages = b.input("pages", {4});
    const ValueId cache = b.kv_cache("kv", kQ8Cache, 64, heads, width - kCacheStepBytes);
    const ValueId kv = b.kv_append(x, x, cache, pages);
    auto graph = b.finish(b.attention(x, kv, pages, {}));
    return graph ? "" : graph.error().message;
  };
  EXPECT_EQ(error(1, 12), "");
  EXPECT_EQ(error(2, 8), "");
  EXPECT_NE(error(1, 8).find("expected 4 columns"), std::string::npos);
  for (const Dim width : {4, 6}) {
    EXPECT_NE(error(1, width).find("heads of a multiple of 4 elements, and 4 bytes more"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tokamak
