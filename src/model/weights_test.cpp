#include "model/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/bits.h"
#include "graph/text.h"
#include "model/constant_bytes.h"
#include "model/model_builder.h"

namespace tokamak {
namespace {

/// A checkpoint in memory of f32 and bf16 tensors holding 1, 2, 3, ...
struct Checkpoint {
  std::vector<std::byte> bytes;
  std::vector<TensorInfo> infos;
  float next = 1;

  void add(const char* name, DType dtype, std::vector<uint64_t> shape) {
    uint64_t count = 1;
    for (const uint64_t dim : shape) count *= dim;
    const uint64_t start = bytes.size();
    for (uint64_t i = 0; i < count; ++i, next += 1) {
      const uint16_t half = f32_to_bf16(next);
      const void* source = dtype == DType::kF32 ? static_cast<const void*>(&next) : &half;
      const auto* first = static_cast<const std::byte*>(source);
      bytes.insert(bytes.end(), first, first + dtype_bytes(dtype));
    }
    infos.push_back({name, dtype, std::move(shape), 0, start, bytes.size() - start});
  }
  TensorFile file() const {
    return *TensorFile::make({memory_source("memory", bytes)}, infos, Json(Json::Object{}));
  }
};

std::vector<float> read(const TensorFile& file, const TensorDesc& constant) {
  const std::vector<std::byte> bytes = constant_bytes(file, constant);
  std::vector<float> values;
  for (size_t i = 0; i < bytes.size(); i += dtype_bytes(constant.dtype)) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + i, dtype_bytes(constant.dtype));
    values.push_back(constant.dtype == DType::kF32 ? std::bit_cast<float>(word)
                                                   : bf16_to_f32(uint16_t(word)));
  }
  return values;
}

TensorDesc constant(Shape shape, DType dtype, Weight weight) {
  return {"w", std::move(shape), dtype, Storage::kConstant, std::move(weight), 0};
}

using Floats = std::vector<float>;

TEST(Weights, PassesBytesThrough) {
  Checkpoint c;
  c.add("a", DType::kBF16, {2, 2});
  EXPECT_EQ(read(c.file(), constant({2, 2}, DType::kBF16, {{"a"}})), (Floats{1, 2, 3, 4}));
}

TEST(Weights, WidensAndAddsOne) {
  Checkpoint c;
  c.add("a", DType::kBF16, {3});
  const Weight raised{{"a"}, RowOrder::kPlain, true};
  EXPECT_EQ(read(c.file(), constant({3}, DType::kF32, raised)), (Floats{2, 3, 4}));
}

TEST(Weights, ConcatenatesRows) {
  Checkpoint c;
  c.add("a", DType::kF32, {1, 2});
  c.add("b", DType::kF32, {2, 2});
  const Weight joined{{"b", "a"}, RowOrder::kConcat};
  EXPECT_EQ(read(c.file(), constant({3, 2}, DType::kF32, joined)), (Floats{3, 4, 5, 6, 1, 2}));
}

TEST(Weights, TakesARangeOfRows) {
  Checkpoint c;
  c.add("qkv", DType::kBF16, {4, 2});
  const Weight part{{WeightPart("qkv", 1, 2)}};
  EXPECT_EQ(read(c.file(), constant({2, 2}, DType::kBF16, part)), (Floats{3, 4, 5, 6}));
  const Weight joined{{WeightPart("qkv", 3, 1), WeightPart("qkv", 0, 1)}, RowOrder::kConcat};
  EXPECT_EQ(read(c.file(), constant({2, 2}, DType::kF32, joined)), (Floats{7, 8, 1, 2}));
}

TEST(Weights, TakesColumnsAndFillsUpWithZeros) {
  Checkpoint c;
  c.add("w", DType::kBF16, {3, 4});
  Weight own{{WeightPart("w", 1, 3)}};
  own.parts[0].zeros = 1;
  own.columns = {.first = 2, .count = 2, .whole = 4};
  EXPECT_EQ(read(c.file(), constant({3, 2}, DType::kBF16, own)), (Floats{7, 8, 11, 12, 0, 0}));
  own.columns.count = 1;
  EXPECT_EQ(read(c.file(), constant({3, 2}, DType::kF32, own)), (Floats{7, 0, 11, 0, 0, 0}));
  own.parts = {WeightPart("w", 0, 1), WeightPart("w", 0, 1)};
  own.parts[1].zeros = 1;
  own.order = RowOrder::kInterleave;
  own.columns = {.first = 0, .count = 0, .whole = 4};
  EXPECT_EQ(read(c.file(), constant({2, 2}, DType::kBF16, own)), (Floats{0, 0, 0, 0}));
  own.columns = {.first = 1, .count = 2, .whole = 4};
  EXPECT_EQ(read(c.file(), constant({2, 2}, DType::kBF16, own)), (Floats{2, 3, 0, 0}));
}

TEST(Weights, CountsTheRowsOfStackedMatrices) {
  Checkpoint c;
  c.add("experts", DType::kBF16, {2, 3, 2});
  const Weight first{{WeightPart("experts", 0, 1), WeightPart("experts", 3, 1)}, RowOrder::kConcat};
  EXPECT_EQ(read(c.file(), constant({2, 2}, DType::kBF16, first)), (Floats{1, 2, 7, 8}));
  const Weight last{{WeightPart("experts", 5, 1)}};
  EXPECT_EQ(read(c.file(), constant({1, 2}, DType::kBF16, last)), (Floats{11, 12}));
  EXPECT_EQ(read(c.file(), constant({6, 2}, DType::kBF16, {{"experts"}})).size(), 12u);
}

TEST(Weights, RefusesRowsThatAreNotThere) {
  Checkpoint c;
  c.add("qkv", DType::kBF16, {4, 2});
  const Weight part{{WeightPart("qkv", 3, 2)}};
  const auto status = constant_bytes(c.file(), constant({2, 2}, DType::kBF16, part), 1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "memory: tensor \"qkv\" is bf16[4, 2], expected at least 5 rows.");
}

TEST(Weights, InterleavesRows) {
  Checkpoint c;
  c.add("gate", DType::kBF16, {2, 2});
  c.add("up", DType::kBF16, {2, 2});
  const Weight joined{{"gate", "up"}, RowOrder::kInterleave};
  EXPECT_EQ(read(c.file(), constant({4, 2}, DType::kBF16, joined)),
            (Floats{1, 2, 5, 6, 3, 4, 7, 8}));
}

TEST(Weights, HaveRowsOfTheLengthsThatANormGives) {
  Checkpoint c;
  c.add("v", DType::kF32, {2, 1, 2});  // 1 2, 3 4
  c.add("g", DType::kBF16, {2, 1, 1});
  TensorDesc weight = constant({2, 2}, DType::kF32, {});
  weight.recipe = WeightNorm{"g", "v"};
  const Floats found = read(c.file(), weight);
  const Floats expected = {float(5 / std::sqrt(5.0)), float(10 / std::sqrt(5.0)), 3.6f, 4.8f};
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_FLOAT_EQ(found[i], expected[i]);
}

TEST(Weights, ComputesRotaryTablesAndFills) {
  const RopeTable recipe{{1.0f, 0.5f}, 2.0f, 0, {}};
  TensorDesc table{"t", {50, 4}, DType::kF32, Storage::kConstant, recipe, 0};
  EXPECT_EQ(read({}, table), rope_table(recipe, 50));
  table.shape = {400'000, 4};  // several pieces
  EXPECT_EQ(read({}, table), rope_table(recipe, 400'000));
  const TensorDesc ones{"o", {3}, DType::kF32, Storage::kConstant, Fill{1}, 0};
  EXPECT_EQ(read({}, ones), (Floats{1, 1, 1}));
}

TEST(Weights, ComputesSlopesByTheDistanceFromTheMiddle) {
  const Slopes recipe{{0.5f, 0.25f}};
  TensorDesc table{"t", {5, 2}, DType::kF32, Storage::kConstant, recipe, 0};
  EXPECT_EQ(read({}, table), (Floats{-1, -0.5f, -0.5f, -0.25f, 0, 0, -0.5f, -0.25f, -1, -0.5f}));
  table.shape = {399'999, 2};  // several pieces
  EXPECT_EQ(read({}, table), slope_table(recipe, 399'999, 399'999));
  const std::string text = recipe_text(recipe);
  EXPECT_EQ(text, "slopes [0.5 0.25]");
  Scanner scan(text);
  const auto parsed = parse_recipe(scan);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, Recipe(recipe));
}

TEST(ModelBuilder, NamesAMissingAndAMisshapenTensor) {
  Checkpoint c;
  c.add("model.norm.weight", DType::kBF16, {4});
  const TensorFile file = c.file();
  ModelBuilder missing(file, {}, "model.");
  auto graph = missing.finish(missing.matrix("layers.0.mlp.up_proj.weight", 8, 4));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "The checkpoint has no tensor \"model.layers.0.mlp.up_proj.weight\"; the config asks "
            "for one of shape [8, 4].");
  ModelBuilder misshapen(file, {}, "model.");
  auto other = misshapen.finish(misshapen.vector("norm.weight", 8));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "memory: tensor \"model.norm.weight\" is bf16[4], expected [8] as config.json says.");
}

TEST(ModelBuilder, RefusesIntegerWeights) {
  Checkpoint c;
  c.add("model.norm.weight", DType::kI16, {4});
  const TensorFile file = c.file();
  ModelBuilder b(file, {}, "model.");
  auto graph = b.finish(b.vector("norm.weight", 4));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(graph.error().message.find("element type i16"), std::string::npos);
}

TEST(ModelBuilder, PutsTheSameRowsOfStackedMatricesTogether) {
  Checkpoint c;
  c.add("model.experts.gate_up", DType::kBF16, {2, 4, 2});
  const TensorFile file = c.file();
  ModelBuilder b(file, {}, "model.");
  const ValueId up = b.stacked("experts.gate_up", 2, {.first = 2, .count = 2, .of = 4}, 2);
  EXPECT_EQ(b.at(up).shape, (Shape{4, 2}));
  EXPECT_EQ(read(file, b.at(up)), (Floats{5, 6, 7, 8, 13, 14, 15, 16}));
  const ValueId all = b.stacked("experts.gate_up", 2, {.first = 0, .count = 4, .of = 4}, 2);
  EXPECT_EQ(read(file, b.at(all)).size(), 16u);
}

TEST(ModelBuilder, RefusesToJoinRowsOfTwoTypes) {
  Checkpoint c;
  c.add("model.0.w", DType::kBF16, {1, 4});
  c.add("model.1.w", DType::kF32, {1, 4});
  const TensorFile file = c.file();
  ModelBuilder b(file, {}, "model.");
  const ModelBuilder::Rows rows{.first = 0, .count = 1, .of = 1};
  const ValueId x = b.constant("x", {1, 4}, DType::kF32, Weight{{"x"}});
  auto graph = b.finish(b.projection(x, "w", {{"0.w", rows}, {"1.w", rows}}));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "Tensors \"model.0.w\" and \"model.1.w\" have element types bf16 and f32; this engine "
            "joins their rows and needs one type.");
}

TEST(ModelBuilder, SharedAttentionReadsTheCacheAndAddsNothing) {
  const TensorFile file;
  ModelBuilder b(file, {.context = 64}, "model.");
  const ValueId table = b.constant("t", {8, 16}, DType::kF32, Weight{{"t"}});
  const ValueId x = b.embed(b.token_ids(), table);
  const ValueId y = b.cached_attention(3, x, x, x, 2, 8, {});
  auto graph = b.finish(b.shared_attention(3, y, {}));
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->nodes.size(), 4u);  // embed, kv_append and twice attention
  EXPECT_EQ(graph->nodes[3].inputs[1], graph->nodes[1].outputs[0]);
  EXPECT_EQ(graph->nodes[3].inputs[2], graph->nodes[2].inputs[2]);
}

TEST(ModelBuilder, WindowLayersHoldAWindowAChunkAndAPage) {
  const TensorFile file;
  ModelBuilder b(file, {.context = 1024, .chunk = 64}, "model.");
  const ValueId table = b.constant("t", {8, 16}, DType::kF32, Weight{{"t"}});
  const ValueId x = b.embed(b.token_ids(), table);
  const ValueId y = b.cached_attention(0, x, x, x, 2, 8, {.window = 100});
  auto graph = b.finish(b.cached_attention(1, y, x, x, 2, 8, {}));
  ASSERT_TRUE(graph) << graph.error().message;
  std::vector<Dim> slots;
  for (const TensorDesc& value : graph->values) {
    if (value.name.starts_with("kv.")) slots.push_back(value.shape[0]);
  }
  // ceil((100 + 64) / 16) + 1 = 12 pages of 16 tokens; the full layer holds the context.
  EXPECT_EQ(slots, (std::vector<Dim>{192, 1024}));
}

}  // namespace
}  // namespace tokamak
