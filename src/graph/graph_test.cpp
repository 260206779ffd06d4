#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/fixed_point_sums.h"
#include "graph/kv_cache.h"
#include "graph/liveness.h"
#include "graph/row_range.h"
#include "graph/text.h"

namespace tokamak {
namespace {

/// One attention block: every kind of value and most ops.
Graph block() {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId pages = b.input("pages.32", {8}, 32);
  const auto weight = [&](const char* name, Shape shape, DType dtype, bool add_one = false) {
    return b.constant(name, std::move(shape), dtype, Weight{{name}, RowOrder::kPlain, add_one});
  };
  const ValueId table = weight("embed", {50, 8}, DType::kBF16);
  const ValueId norm = weight("norm", {8}, DType::kF32, true);
  const ValueId cache = b.kv_cache("kv.0", DType::kF16, 64, 1, 4, 32);
  const ValueId rope = b.constant("rope.0", {128, 4}, DType::kF32, RopeTable{{1.0f, 0.01f}, 1});
  const ValueId x = b.scale(b.embed(tokens, table), 2.5f);
  const ValueId n = b.rms_norm(x, norm, 1e-6f);
  const ValueId q = b.rope(b.linear(n, weight("q", {8, 8}, DType::kF16)), rope, 4);
  const ValueId k = b.rope(b.linear(n, weight("k", {4, 8}, DType::kF16)), rope, 4);
  const ValueId v = b.linear(n, weight("v", {4, 8}, DType::kF16));
  const ValueId kv = b.kv_append(k, v, cache, pages);
  const ValueId y = b.add(x, b.attention(q, kv, pages, {.scale = 0.5f, .window = 32}));
  auto graph = b.finish(b.linear(b.last_row(y), table));
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}

TEST(GraphText, PrintsAndParsesBack) {
  const Graph graph = block();
  const std::string text = to_text(graph);
  auto parsed = parse_graph(text);
  ASSERT_TRUE(parsed) << parsed.error().message << text;
  EXPECT_EQ(to_text(*parsed), text);
  EXPECT_EQ(parsed->nodes.size(), graph.nodes.size());
  EXPECT_NE(text.find("const  @norm: f32[8] = weight \"norm\" + 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("%0: f32[T,8] = embed @tokens, @embed {scale=1}\n"), std::string::npos);
}

TEST(GraphText, KeepsActivationsOfWhichOneNameBeginsAnother) {
  for (const Activation activation : kActivations) {
    GraphBuilder b;
    const ValueId x =
        b.embed(b.input("tokens", {kTokens}), b.constant("w", {8, 8}, DType::kF32, Weight{{"w"}}));
    const Graph graph = b.finish(b.activate(activation, x)).value();
    const auto parsed = parse_graph(to_text(graph));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->nodes.back().op, Op(Activate{activation}));
  }
}

TEST(GraphText, KeepsRowRangesAndTablesOfTwoParts) {
  const std::string text = R"(input  @t: u32[T]
const  @table: bf16[50,8] = weight "table"
const  @k: bf16[4,8] = weight "qkv"[8:12]
const  @both: bf16[8,4] = concat "qkv"[12:16] "o"
const  @rope: f32[72,4] = rope {factor=1.5} [0.5 0.25] short 8 [1 0.5]
%0: f32[T,8] = embed @t, @table {scale=1}
%1: f32[T,4] = linear %0, @k
%2: f32[T,4] = rope %1, @rope {head_dim=4, short_rows=8}
%3: f32[T,8] = linear %2, @both
return %3
)";
  auto graph = parse_graph(text);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(to_text(*graph), text);
  EXPECT_EQ(std::get<Weight>(graph->values[2].recipe).parts,
            (std::vector{WeightPart("qkv", 8, 4)}));
}

std::string with_parts(std::string_view constant) {
  return fmt::format(R"(input  @t: u32[T]
const  @table: bf16[50,256] = weight "table"
const  @w: {}
%0: f32[T,256] = embed @t, @table {{scale=1}}
%1: f32[T,6] = linear %0, @w
return %1
)",
                     constant);
}

TEST(GraphText, KeepsTheTypesOfParts) {
  const std::string text =
      with_parts("f32[6,256] = concat \"q\"[0:4] ~heads=2 as q4_k \"v\"[2:4] as q6_k");
  auto graph = parse_graph(text);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(to_text(*graph), text);
}

TEST(Verify, PartsOfSeveralTypesSayWhatTheyAre) {
  for (const char* wrong : {"f32[6,256] = concat \"q\"[0:4] as q4_k \"v\"[2:4]",
                            "f32[6,256] = concat \"q\"[0:3] as q4_k \"v\"[0:3] as q6_k",
                            "f32[6,256] = concat \"q\"[0:2] as q4_k \"v\"[0:2] as q6_k",
                            "f32[6,256] = concat \"q\"[0:4] as q4_k \"v\" as q6_k",
                            "f32[6,256] = concat \"q\"[0:4] as u32 \"v\"[0:2] as q6_k",
                            "f32[6,256] = interleave \"q\"[0:4] as q4_k \"v\"[0:2] as q6_k",
                            "f16[6,256] = concat \"q\"[0:4] as q4_k \"v\"[0:2] as q6_k",
                            "f32[6,256] = concat \"q\"[0:4] as q4_k \"v\"[0:2] as q6_k + 1"}) {
    const auto graph = parse_graph(with_parts(wrong));
    ASSERT_FALSE(graph) << wrong;
    EXPECT_NE(graph.error().message.find("parts of \"w\" have types of their own"),
              std::string::npos)
        << graph.error().message;
  }
}

TEST(GraphText, KeepsTurnedRowsAndColumnOrders) {
  const std::string text = R"(input  @t: u32[T]
const  @table: bf16[50,8] = weight "table"
const  @order: u32[8] = order "q.g_idx"
const  @orders: u32[2,8] = order "e.0.g_idx" ""
const  @both: q8_0[64,32] = concat "q"[0:32] ~heads=4 ~turned=8 "k" ~heads=2 ~transposed
const  @factors: f32[8] = concat "v"[0:6] * 0.5 "v"[6:8]
%0: f32[T,8] = embed @t, @table {scale=1}
%1: f32[T,8] = gather_columns %0, @order
return %1
)";
  auto graph = parse_graph(text);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(to_text(*graph), text);
  EXPECT_EQ(std::get<ColumnOrder>(graph->values[3].recipe).groups,
            (std::vector<std::string>{"e.0.g_idx", ""}));
  const auto& parts = std::get<Weight>(graph->values[4].recipe).parts;
  EXPECT_EQ(parts[0].rope_heads, 4u);
  EXPECT_EQ(parts[0].turned, 8u);
  EXPECT_EQ(parts[1].rope_heads, 2u);
  EXPECT_EQ(parts[1].turned, 0u);
  EXPECT_EQ(std::get<Weight>(graph->values[5].recipe).parts[0].factor, 0.5f);
}

TEST(GraphText, RejectsEmptyRangesAndShortPartsOfAnotherLength) {
  const auto error = [](const char* recipe) {
    auto graph = parse_graph(fmt::format("const  @c: f32[4,4] = {}\nreturn @c\n", recipe));
    return graph ? "" : graph.error().message;
  };
  EXPECT_EQ(error("weight \"qkv\"[0:4]"), "");
  EXPECT_NE(error("weight \"qkv\"[4:4]").find("a range of rows that ends after 4"),
            std::string::npos);
  EXPECT_NE(error("weight \"q\" ~heads=0").find("heads above 0"), std::string::npos);
  EXPECT_NE(error("rope {factor=1} [1 0.5] short 2 [1]").find("2 short frequencies"),
            std::string::npos);
}

TEST(GraphShapes, ARopeTableOfTwoPartsHasMoreThanItsShortRows) {
  GraphBuilder b;
  const ValueId table = b.constant("t", {50, 8}, DType::kF32, Weight{{"t"}});
  const ValueId rope = b.constant("rope", {8, 4}, DType::kF32, RopeTable{{1.0f, 0.5f}, 1});
  const ValueId x = b.embed(b.input("tokens", {kTokens}), table);
  auto graph = b.finish(b.rope(x, rope, 4, 8));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "rope: operand 1 is f32[8,4], expected more than 8 rows");
}

TEST(GraphShapes, AnOrderHasANumberForEachColumn) {
  GraphBuilder b;
  const ValueId table = b.constant("t", {50, 8}, DType::kF32, Weight{{"t"}});
  const ValueId order = b.constant("o", {7}, DType::kU32, ColumnOrder{{"o"}});
  const ValueId x = b.embed(b.input("tokens", {kTokens}), table);
  auto graph = b.finish(b.gather_columns(x, order));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "gather_columns: operand 1 is u32[7], expected u32[8]");
}

TEST(GraphShapes, ExpertsHaveAnOrderForEachColumn) {
  const auto error = [](Shape order, uint32_t columns) {
    GraphBuilder b;
    const ValueId table = b.constant("t", {50, 16}, DType::kF32, Weight{{"t"}});
    const ValueId x = b.embed(b.input("tokens", {kTokens}), table);
    const auto routed = b.route(x, {.top_k = 2});
    const ValueId orders = b.constant("o", std::move(order), DType::kU32, ColumnOrder{{"o"}});
    const ValueId y = b.expert_columns(x, orders, routed.chosen);
    EXPECT_TRUE(!b.ok() || b.at(y).shape == (Shape{kTokens, columns}));
    auto graph = b.finish(y);
    return graph ? "" : graph.error().message;
  };
  EXPECT_EQ(error({5, 16}, 32), "");  // a row for both slots
  EXPECT_EQ(error({5, 8}, 16), "");   // or one for each
  EXPECT_EQ(error({5, 7}, 0),
            "expert_columns: operand 1 is u32[5,7], expected u32[experts, n] whose rows fit "
            "operand 0");
  EXPECT_NE(error({16}, 0).find("operand 1 is u32[16]"), std::string::npos);
}

TEST(GraphShapes, ConvolutionsReadRowsOfAllSteps) {
  GraphBuilder b;
  const ValueId rows = b.host_rows("sound", 40, 3);
  const ValueId y = b.unfold(rows, {.taps = 5, .stride = 2});
  EXPECT_EQ(b.at(y).shape, (Shape{kTokens, 15}));
  EXPECT_TRUE(b.finish(y));
  const auto error = [](const Unfold& op, bool of_step) {
    GraphBuilder own;
    const ValueId x = of_step ? own.row_input("x", 3) : own.host_rows("x", 40, 3);
    auto graph = own.finish(own.unfold(x, op));
    return graph ? "" : graph.error().message;
  };
  EXPECT_EQ(error({.taps = 2}, true), "unfold: operand 0 is f32[T,3], expected rows for all steps");
  EXPECT_EQ(error({.taps = 0}, false),
            "unfold: operand 0 is f32[40,3], expected at least one tap and a stride");
}

TEST(GraphShapes, CausalConvolutionsNeedWholeTapsAndTheirRates) {
  const auto error = [](const CausalConv& op, Dim columns, Dim rates) {
    GraphBuilder b;
    const auto weight = [&](const char* name, Shape shape) {
      return b.constant(name, std::move(shape), DType::kF32, Weight{{name}});
    };
    std::vector<ValueId> inputs = {b.row_input("x", 5), weight("w", {4, columns}),
                                   weight("bias", {4})};
    if (op.snake) inputs.push_back(weight("rates", {rates}));
    if (op.adds) inputs.push_back(b.row_input("r", 4));
    const ValueId y = b.add_node(op, inputs).front();
    EXPECT_TRUE(!b.ok() || b.at(y).shape == (Shape{kTokens, 4}));
    const auto graph = b.finish(y);
    return graph ? "" : graph.error().message;
  };
  EXPECT_EQ(error({.dilation = 3}, 15, 0), "");
  EXPECT_EQ(error({.snake = true, .adds = true}, 5, 2), "");
  EXPECT_EQ(error({}, 14, 0), "causal_conv: operand 1 is f32[4,14], expected f32[out, taps * 5]");
  EXPECT_EQ(error({.dilation = 0}, 15, 0),
            "causal_conv: operand 0 is f32[T,5], expected a dilation of at least 1");
  EXPECT_EQ(error({.snake = true}, 15, 3), "causal_conv: operand 3 is f32[3], expected f32[2]");
}

TEST(GraphShapes, TransposedConvolutionsGiveRowsOfRows) {
  const auto shape = [](Dim taps, Dim out) -> Shape {
    GraphBuilder b;
    const auto weight = [&](const char* name, Shape of) {
      return b.constant(name, std::move(of), DType::kF32, Weight{{name}});
    };
    const ValueId y =
        b.transposed_conv(b.row_input("x", 6), weight("w", {6, taps}), weight("bias", {out}));
    return b.ok() ? b.at(y).shape : Shape{};
  };
  EXPECT_EQ(shape(14, 3), (Shape{kTokens, 21}));
  EXPECT_EQ(shape(13, 3), Shape{}) << "taps come in pairs";
  EXPECT_EQ(shape(14, 4), Shape{}) << "groups are whole";
}

TEST(GraphShapes, AListHasTheMaximaAndBlocksOfItsLogits) {
  const auto message = [](Dim columns, Dim maxima, Dim words) {
    GraphBuilder b;
    const ValueId tokens = b.input("tokens", {kTokens});
    const auto made = [&](const char* name, Dim width) {
      return b.embed(tokens, b.constant(name, {8, width}, DType::kF32, Weight{{name}}));
    };
    const ValueId x = made("x", columns), p = made("p", maxima);
    const ValueId blocks = b.add_node(TopKBlocks{}, {p})[0];
    const ValueId allowed = b.sampled("allowed", {words}, DType::kU32);
    const auto graph = b.finish(b.add_node(TopKTokens{}, {x, p, blocks, allowed})[0]);
    return graph ? "fits" : graph.error().message;
  };
  EXPECT_EQ(message(262144, 4096, 8192), "fits");
  EXPECT_EQ(message(262145, 4096, 8193),
            "topk_tokens: operand 1 is f32[T,4096], expected f32[T,2050]");
  EXPECT_EQ(message(262145, 2050, 8192).substr(0, 34), "topk_tokens: operand 3 is u32[8192");
  EXPECT_EQ(message(100, 4098, 4),
            "topk_blocks: operand 0 is f32[T,4098], expected a peak and a sum of at most 2048 "
            "blocks");
}

TEST(GraphText, NamesTheLineOfAMistake) {
  auto parsed = parse_graph("input @t: u32[T]\n%0: f32[T,8] = frobnicate @t\nreturn %0\n");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message.find("line 2"), std::string::npos) << parsed.error().message;
  EXPECT_NE(parsed.error().message.find("frobnicate"), std::string::npos);
}

TEST(GraphText, RejectsTextWithoutReturn) {
  EXPECT_FALSE(parse_graph("input @t: u32[T]\n"));
  EXPECT_FALSE(parse_graph(""));
}

TEST(GraphBuilder, ReportsTheFirstMistakeAtTheEnd) {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId table = b.constant("t", {50, 8}, DType::kBF16, Weight{{"t"}});
  const ValueId wrong = b.constant("w", {8, 9}, DType::kBF16, Weight{{"w"}});
  const ValueId x = b.embed(tokens, table);
  auto graph = b.finish(b.add(b.linear(x, wrong), x));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "linear: operand 1 is bf16[8,9], expected a matrix [out, 8]");
}

TEST(GraphVerify, RefusesASecondAppend) {
  Graph graph = block();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!std::holds_alternative<KvAppend>(graph.nodes[i].op)) continue;
    Node again = graph.nodes[i];
    again.outputs = {ValueId(graph.values.size())};
    graph.values.push_back(graph.at(graph.nodes[i].outputs[0]));
    graph.nodes.insert(graph.nodes.begin() + std::ptrdiff_t(i) + 1, again);
    break;
  }
  auto status = verify(graph);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("second time"), std::string::npos);
}

TEST(FixedPointSums, AreTheSameInEveryOrderAndExactForSmallAndLargeAddends) {
  const std::vector<double> addends = {1e-9, 1.3e5, -0.1, 2.5e-4, -1.2e5, 7.25, -1e-3};
  FixedPointSum forward, backward;
  double sum = 0;
  for (size_t i = 0; i < addends.size(); ++i) {
    forward.add(addends[i]);
    backward.add(addends[addends.size() - 1 - i]);
    sum += addends[i];
  }
  EXPECT_EQ(forward.high, backward.high);
  EXPECT_EQ(forward.low, backward.low);
  EXPECT_NEAR(forward.value(), sum, 7 * 0x1p-31);
}

TEST(FixedPointSums, HoldAsManyOfTheLargestAddendsAsTheySay) {
  FixedPointSum low, high;
  for (uint32_t i = 0; i < FixedPointSum::kMaxAddends; ++i) {
    low.add(FixedPointSum::kHigh / 2 * 0.999);
    high.add(i % 2 == 0 ? 0x1p17 - 1 : 3 - 0x1p17);
  }
  EXPECT_NEAR(low.value(), FixedPointSum::kMaxAddends * FixedPointSum::kHigh / 2 * 0.999, 1e-6);
  EXPECT_EQ(high.value(), 0x1p17 - 1 + 127 * 2.0);
}

TEST(FixedPointSums, AreNoNumberBeyondWhatTheyHold) {
  for (const double bad : {double(NAN), double(INFINITY), -double(INFINITY), 0x1p17, -0x1p17}) {
    FixedPointSum sum;
    sum.add(5);
    sum.add(bad);
    sum.add(-3);
    EXPECT_TRUE(std::isnan(sum.value())) << bad;
  }
  // Every sum from 2^24 on, none of which wraps to a number.
  for (const double addend : {0x1p17 - 1, 1 - 0x1p17}) {
    FixedPointSum sum;
    for (uint32_t i = 1; i <= FixedPointSum::kMaxAddends; ++i) {
      sum.add(addend);
      EXPECT_EQ(std::isnan(sum.value()), std::abs(i * addend) >= 0x1p24) << i;
    }
  }
}

/// A gated feed-forward network whose sums `reads` says who reads beside it.
Result<Graph> gated_ffn_graph(bool reads, const GatedFfn& op = {}) {
  GraphBuilder b;
  const auto weight = [&](const char* name, Shape shape) {
    return b.constant(name, std::move(shape), DType::kBF16, Weight{{name}});
  };
  const ValueId x = b.embed(b.input("tokens", {kTokens}), weight("embed", {50, 8}));
  const auto front = b.add_node(FusedLinear{.clears = true}, {x, weight("o", {8, 8})});
  const ValueId sums =
      b.add_node(op, {front[0], weight("gu", {32, 8}), weight("d", {8, 16}), front[1]})[0];
  const ValueId after = weight("p", {8, 8});
  const ValueId y = b.add_node(FusedLinear{.epilogue = Epilogue::kAdd}, {front[0], after, sums})[0];
  return b.finish(
      reads ? b.add_node(FusedLinear{.epilogue = Epilogue::kAdd}, {y, after, front[1]})[0] : y);
}

TEST(GraphVerify, SumsThatAreAddedToAreNoOneElses) {
  ASSERT_TRUE(gated_ffn_graph(false));
  const auto shared = gated_ffn_graph(true);
  ASSERT_FALSE(shared);
  EXPECT_NE(shared.error().message.find("adds to sums that something else reads, too"),
            std::string::npos)
      << shared.error().message;
}

TEST(GraphVerify, SumsThatAreAddedToAreClearedByAProduct) {
  GraphBuilder b;
  const auto weight = [&](const char* name, Shape shape, DType dtype = DType::kBF16) {
    return b.constant(name, std::move(shape), dtype, Weight{{name}});
  };
  const ValueId x = b.embed(b.input("tokens", {kTokens}), weight("embed", {50, 8}));
  const ValueId before = b.constant("sums", {kTokens, 16}, DType::kI32, Fill{0});
  const ValueId sums =
      b.add_node(GatedFfn{}, {x, weight("gu", {32, 8}), weight("d", {8, 16}), before})[0];
  const auto graph = b.finish(b.add_node(FusedLinear{}, {sums, weight("p", {8, 8})})[0]);
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("that no product clears"), std::string::npos)
      << graph.error().message;
}

TEST(GraphShapes, AGatedNetworkTakesAGluAlone) {
  for (const FusedLinear& glu :
       {FusedLinear{}, FusedLinear{.epilogue = Epilogue::kGlu, .clears = true},
        FusedLinear{.prologue = Prologue::kHeadNorm, .epilogue = Epilogue::kGlu}}) {
    EXPECT_FALSE(gated_ffn_graph(false, {.glu = glu}));
  }
}

TEST(GraphVerify, RefusesUseBeforeDefinition) {
  Graph graph = block();
  std::swap(graph.nodes.front(), graph.nodes.back());
  EXPECT_FALSE(verify(graph));
}

TEST(GraphVerify, RefusesAWrongDeclaredShape) {
  Graph graph = block();
  graph.at(graph.nodes[1].outputs[0]).shape[1] = 9;
  EXPECT_FALSE(verify(graph));
}

TEST(Liveness, EndsAtTheLastUse) {
  const Graph graph = block();
  const std::vector<LiveRange> ranges = live_ranges(graph);
  // embed (0), scale (1), rms_norm (2), ...: the scaled embedding lives until the residual add.
  const ValueId embedded = graph.nodes[0].outputs[0], scaled = graph.nodes[1].outputs[0];
  EXPECT_EQ(ranges[uint32_t(embedded)], (LiveRange{0, 1}));
  EXPECT_EQ(ranges[uint32_t(scaled)].first, 1u);
  const uint32_t last = ranges[uint32_t(scaled)].last;
  EXPECT_TRUE(std::holds_alternative<Add>(graph.nodes[last].op));
  EXPECT_EQ(ranges[uint32_t(graph.result)].last, graph.nodes.size());
}

TensorDesc matrix(Dim rows, Weight weight) {
  return {.name = "w",
          .shape = {rows, 64},
          .dtype = DType::kQ4_0,
          .storage = Storage::kConstant,
          .recipe = std::move(weight)};
}

std::string recipe_of_rows(const TensorDesc& matrix, uint32_t first, uint32_t count) {
  const TensorDesc range = row_range(matrix, first, count);
  EXPECT_EQ(range.shape, (Shape{count, 64}));
  EXPECT_EQ(range.dtype, matrix.dtype);
  EXPECT_EQ(range.storage, matrix.storage);
  return range.name + " " + recipe_text(range.recipe);
}

TEST(RowRange, CutsAWholeTensorAndAPartOfOne) {
  EXPECT_EQ(recipe_of_rows(matrix(12, {{"a"}}), 4, 6), "w/4 weight \"a\"[4:10]");
  EXPECT_EQ(recipe_of_rows(matrix(12, {{WeightPart("a", 100, 12)}}), 4, 8),
            "w/4 weight \"a\"[104:112]");
  WeightPart turned("a");
  turned.rope_heads = 2;
  EXPECT_EQ(recipe_of_rows(matrix(12, {{turned}}), 4, 6), "w/4 weight \"a\"[4:10] ~heads=2");
  const Weight norm{{"a"}, RowOrder::kPlain, true};
  EXPECT_EQ(recipe_of_rows(matrix(12, norm), 0, 2), "w/0 weight \"a\"[0:2] + 1");
}

TEST(RowRange, KeepsThePartsThatHaveRowsInIt) {
  const Weight joined{{WeightPart("q", 0, 8), WeightPart("k", 2, 4), WeightPart("v", 0, 4)},
                      RowOrder::kConcat};
  EXPECT_EQ(recipe_of_rows(matrix(16, joined), 0, 6), "w/0 concat \"q\"[0:6]");
  EXPECT_EQ(recipe_of_rows(matrix(16, joined), 6, 7),
            "w/6 concat \"q\"[6:8] \"k\"[2:6] \"v\"[0:1]");
  EXPECT_EQ(recipe_of_rows(matrix(16, joined), 10, 2), "w/10 concat \"k\"[4:6]");
}

TEST(RowRange, KeepsWhatElseAPartSays) {
  WeightPart part("q");
  part.rope_heads = 3;
  part.factor = 2;
  const TensorDesc range = row_range(matrix(12, {{part}}), 4, 6);
  EXPECT_EQ(std::get<Weight>(range.recipe).parts.front().rope_heads, 3u);
  EXPECT_EQ(std::get<Weight>(range.recipe).parts.front().factor, 2.0f);
}

TEST(RowRange, TakesPartsOfUnsaidLengthToBeEquallyLong) {
  const Weight joined{{"a", "b", "c"}, RowOrder::kConcat};
  EXPECT_EQ(recipe_of_rows(matrix(12, joined), 3, 6),
            "w/3 concat \"a\"[3:4] \"b\"[0:4] \"c\"[0:1]");
}

TEST(RowRange, RowsOfOneTypeHaveIt) {
  Weight joined{{WeightPart("q", 0, 8), WeightPart("k", 0, 4), WeightPart("v", 0, 4)},
                RowOrder::kConcat};
  joined.parts[0].dtype = joined.parts[1].dtype = DType::kQ4_K;
  joined.parts[2].dtype = DType::kQ6_K;
  TensorDesc mixed = matrix(16, joined);
  mixed.dtype = DType::kF32;
  mixed.shape[1] = 256;
  EXPECT_EQ(type_bounds(mixed), (std::vector<uint32_t>{0, 12, 16}));
  EXPECT_EQ(type_bounds(matrix(12, {{"a"}})), (std::vector<uint32_t>{0, 12}));
  const TensorDesc first = row_range(mixed, 0, 12), both = row_range(mixed, 10, 4);
  EXPECT_EQ(first.dtype, DType::kQ4_K);
  EXPECT_EQ(stored_bytes(mixed), stored_bytes(first) + stored_bytes(row_range(mixed, 12, 4)));
  EXPECT_LT(stored_bytes(mixed), byte_count(mixed, 1) / 4);
  EXPECT_EQ(recipe_text(first.recipe), "concat \"q\"[0:8] \"k\"[0:4]");
  EXPECT_EQ(both.dtype, DType::kF32);
  EXPECT_EQ(recipe_text(both.recipe), "concat \"k\"[2:4] as q4_k \"v\"[0:2] as q6_k");
}

TEST(RowRange, CutsAlternatingRowsEvenly) {
  const Weight joined{{"gate", WeightPart("both", 6, 6)}, RowOrder::kInterleave};
  EXPECT_EQ(recipe_of_rows(matrix(12, joined), 4, 6),
            "w/4 interleave \"gate\"[2:5] \"both\"[8:11]");
}

}  // namespace
}  // namespace tokamak
