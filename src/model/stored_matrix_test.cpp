#include "model/stored_matrix.h"

#include <gtest/gtest.h>

#include "base/packing.h"
#include "model/model_builder.h"

namespace tokamak {
namespace {

uint64_t bytes_of(DType dtype, const std::vector<uint64_t>& shape) {
  uint64_t count = 1;
  for (const uint64_t dim : shape) count *= dim;
  return is_packed(dtype) ? count / 32 * 34 : count * dtype_bytes(dtype);
}

/// A checkpoint of zeros.
struct Checkpoint {
  std::vector<TensorInfo> infos;
  uint64_t bytes = 0;

  Checkpoint& add(const char* name, DType dtype, std::vector<uint64_t> shape) {
    const uint64_t size = bytes_of(dtype, shape);
    infos.push_back({name, dtype, std::move(shape), 0, bytes, size});
    bytes += size;
    return *this;
  }
  TensorFile file() const {
    return *TensorFile::make({memory_source("memory", std::vector<std::byte>(size_t(bytes)))},
                             infos, Json(Json::Object{}));
  }
};

Checkpoint affine(std::vector<uint64_t> weight, std::vector<uint64_t> scales,
                  DType dtype = DType::kF16) {
  Checkpoint c;
  c.add("x.weight", DType::kU32, std::move(weight)).add("x.scales", dtype, scales);
  return c.add("x.biases", dtype, scales);
}

Checkpoint gptq(uint64_t rows, uint64_t columns, uint64_t groups) {
  Checkpoint c;
  c.add("x.qweight", DType::kI32, {columns / 8, rows});
  c.add("x.qzeros", DType::kI32, {groups, rows / 8});
  return c.add("x.scales", DType::kF16, {groups, rows});
}

std::string type(const Checkpoint& c, uint64_t rows, uint64_t columns) {
  const TensorFile file = c.file();
  const auto found = locate(file, "x.weight", rows, columns, {});
  if (!found) return found.error().message;
  EXPECT_EQ(found->rows, rows);
  return std::string(dtype_name(found->dtype));
}

void expect_words(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << word << ": " << message;
  }
}

TEST(StoredMatrix, RecognizesEachFormByItsTensors) {
  EXPECT_EQ(type(Checkpoint().add("x.weight", DType::kBF16, {4, 64}), 4, 64), "bf16");
  EXPECT_EQ(type(Checkpoint().add("x.weight", DType::kBF16, {2, 2, 64}), 4, 64), "bf16");
  EXPECT_EQ(type(Checkpoint().add("x.weight", DType::kQ8_0, {4, 64}), 4, 64), "q8_0");
  EXPECT_EQ(type(affine({4, 16}, {4, 2}), 4, 128), "affine4_g64_f16");
  EXPECT_EQ(type(affine({2, 2, 16}, {2, 2, 2}), 4, 128), "affine4_g64_f16");
  EXPECT_EQ(type(affine({4, 32}, {4, 1}, DType::kBF16), 4, 128), "affine8_g128_bf16");
  EXPECT_EQ(type(affine({4, 16}, {4, 4}), 4, 128), "q4_1");
  EXPECT_EQ(type(gptq(16, 256, 2), 16, 256), "zero4_g128_f16");
  EXPECT_EQ(type(gptq(16, 256, 8), 16, 256), "zero4_g32_f16");
  EXPECT_EQ(type(gptq(16, 512, 1), 16, 512), "zero4_g128_f16");
  EXPECT_EQ(type(affine({4, 12}, {4, 2}), 4, 128), "affine3_g64_f16");
  EXPECT_EQ(type(affine({4, 24}, {4, 1}, DType::kBF16), 4, 128), "affine6_g128_bf16");
}

TEST(StoredMatrix, RefusesWhatTheTensorsDoNotSay) {
  expect_words(type(Checkpoint(), 4, 64), {"no tensor \"x.weight\"", "[4, 64]"});
  expect_words(type(Checkpoint().add("x.weight", DType::kQ8_0, {4, 64}), 5, 64),
               {"q8_0[4, 64]", "[5, 64]"});
  Checkpoint lone;
  lone.add("x.weight", DType::kU32, {4, 16});
  expect_words(type(lone, 4, 128), {"\"x.weight\"", "no \"x.scales\""});
  Checkpoint micro = lone;
  lone.add("x.scales", DType::kF16, {4, 4});
  expect_words(type(lone, 4, 128), {"\"x.weight\"", "without biases"});
  micro.add("x.scales", DType::kU8, {4, 3});
  expect_words(type(micro, 4, 128), {"\"x.scales\"", "a byte for each 32"});
  expect_words(type(affine({4, 16}, {2, 2}), 4, 128), {"\"x.scales\"", "4 rows"});
  expect_words(type(affine({4, 16}, {4, 3}), 4, 128), {"\"x.scales\""});
  expect_words(type(affine({4, 16}, {4, 8}), 4, 128), {"\"x.scales\"", "per 16 columns"});
  expect_words(type(affine({4, 16}, {4, 0}), 4, 128), {"\"x.scales\""});
  expect_words(type(affine({4, 28}, {4, 2}), 4, 128), {"\"x.weight\"", "7 bits"});
  expect_words(type(affine({4, 17}, {4, 2}), 4, 128), {"\"x.weight\"", "6 or 8 bits"});
  expect_words(type(affine({3, 16}, {3, 2}), 4, 128), {"u32[3, 16]", "[4, 128]"});
  expect_words(type(gptq(16, 256, 16), 16, 256), {"\"x.scales\"", "per 16 columns"});
  expect_words(type(gptq(16, 256, 2), 16, 200), {"\"x.qweight\"", "2, 3, 4 or 8 bits"});
  expect_words(type(gptq(16, 256, 2), 24, 256), {"i32[32, 16]", "[24, 256]"});
  expect_words(type(gptq(256, 2048, 2), 2040, 256), {"\"x.qweight\"", "8 rows of [2040, 256]"});
  Checkpoint bare;
  bare.add("x.qweight", DType::kI32, {16, 16}).add("x.scales", DType::kF16, {1, 16});
  expect_words(type(bare, 16, 128), {"no \"x.qzeros\""});
  Checkpoint other;
  other.add("x.weight_packed", DType::kI32, {4, 15});
  expect_words(type(other, 4, 128), {"\"x.weight_packed\"", "4 or 8 bits"});
  Checkpoint bytes;
  bytes.add("x.weight", DType::kU8, {256, 1}).add("x.weight.absmax", DType::kF32, {8});
  expect_words(type(bytes, 4, 128), {"\"x.weight\"", "another type than nf4"});
  expect_words(type(Checkpoint().add("x.weight", DType::kF8E4M3, {4, 64}), 4, 64), {"f8e4m3"});
}

Result<Quantization> declared(const char* text, const TensorFile& file = {}) {
  const auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return read_quantization(ConfigReader(*json, "config.json"), file);
}

std::string declared_error(const char* text) {
  const Checkpoint c = gptq(16, 256, 2);
  const auto read = declared(text, c.file());
  return read ? "" : read.error().message;
}

TEST(Quantization, IsReadFromEitherField) {
  const auto mlx = declared(R"({"quantization": {"bits": 4, "group_size": 64, "mode": "affine",
      "a.b": {"bits": 8, "group_size": 32}, "router": false}})");
  ASSERT_TRUE(mlx) << mlx.error().message;
  EXPECT_EQ(mlx->of("a.b").bits, 8u);
  EXPECT_EQ(mlx->of("a.b").group, 32u);
  EXPECT_EQ(mlx->of("a.c").group, 64u);
  const auto gptq = declared(R"({"text_config": {"quantization_config":
      {"quant_method": "gptq", "bits": 4, "group_size": -1, "checkpoint_format": "gptq"}}})");
  ASSERT_TRUE(gptq) << gptq.error().message;
  EXPECT_EQ(gptq->of("a").bits, 4u);
  EXPECT_EQ(gptq->of("a").group, 0u);
  EXPECT_TRUE(declared("{}")->where.empty());
}

TEST(Quantization, RefusesWhatIsNotRead) {
  expect_words(declared_error(R"({"quantization_config": {"quant_method": "hqq", "bits": 4}})"),
               {"quant_method is \"hqq\"", "\"x.qweight\""});
  expect_words(declared_error(R"({"quantization_config": {"quant_method": "awq", "bits": 4,
      "group_size": 128, "version": "gemv"}})"),
               {"version is \"gemv\"", "\"x.qweight\""});
  expect_words(declared_error(R"({"quantization": {"mode": "mxfp6", "bits": 6}})"),
               {"mode is \"mxfp6\"", "\"x.qweight\""});
  expect_words(declared_error(R"({"quantization_config": {"quant_method": "fp8",
      "weight_block_size": [64, 64]}})"),
               {"weight_block_size is [64, 64]", "reads [128, 128]"});
  expect_words(declared_error(R"({"quantization_config": {"quant_method": "compressed-tensors",
      "format": "marlin-24"}})"),
               {"format is \"marlin-24\""});
  EXPECT_EQ(declared_error(R"({"quantization_config": {"quant_method": "bitsandbytes"}})"), "");
  EXPECT_EQ(declared_error(R"({"quantization": {"mode": "mxfp4", "bits": 4}})"), "");
  expect_words(declared_error(R"({"quantization_config": {"quant_method": "gptq", "bits": 4,
      "group_size": 128, "checkpoint_format": "marlin"}})"),
               {"checkpoint_format is \"marlin\""});
  for (const char* bits : {"0", "1", "7", "33", "-1", "\"4\""}) {
    expect_words(
        declared_error(
            fmt::format(R"({{"quantization": {{"group_size": 64, "bits": {}}}}})", bits).c_str()),
        {"quantization: bits is", bits});
  }
  for (const char* size : {"0", "48", "4096", "-1"}) {
    expect_words(
        declared_error(
            fmt::format(R"({{"quantization": {{"bits": 4, "group_size": {}}}}})", size).c_str()),
        {"group_size is", size});
  }
  expect_words(declared_error(R"({"quantization": {"bits": 4, "group_size": 64,
      "a.b": {"bits": 7, "group_size": 64}}})"),
               {"a.b: bits is 7"});
}

TEST(Quantization, OfGptqMayStandInAFileOfItsOwn) {
  const auto read = [](const char* config, const char* beside, const TensorFile& file) {
    const Json json = *Json::parse(config), own = *Json::parse(beside);
    return read_quantization(ConfigReader(json, "config.json"), file, &own);
  };
  const auto error = [&](const char* config, const char* beside, const TensorFile& file) {
    const auto found = read(config, beside, file);
    return found ? "" : found.error().message;
  };
  const TensorFile packed = gptq(16, 256, 2).file();
  const TensorFile plain = affine({4, 16}, {4, 2}).file();
  constexpr const char* kOwn = R"({"bits": 4, "group_size": 64, "desc_act": true})";
  constexpr const char* kSecond =
      R"({"bits": 4, "group_size": 64, "checkpoint_format": "gptq_v2"})";
  const auto found = read("{}", kOwn, packed);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->where, "quantize_config.json");
  EXPECT_EQ(found->all.group, 64u);
  EXPECT_EQ(error("{}", R"({"bits": 5, "group_size": 64})", packed),
            "quantize_config.json: bits is 5; this engine reads 2, 3, 4, 8.");
  EXPECT_FALSE(found->has_whole_zeros);
  EXPECT_TRUE(read("{}", kSecond, packed)->has_whole_zeros);
  expect_words(error("{}", R"({"bits": 4, "group_size": 64, "checkpoint_format": "x"})", packed),
               {"quantize_config.json: checkpoint_format is \"x\"", "\"x.qweight\""});
  expect_words(error("{}", R"({"quant_method": "awq"})", packed), {"awq"});
  // Beside a config.json that says GPTQ only the format is new; elsewhere the file is stale.
  constexpr const char* kConfig =
      R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}})";
  EXPECT_EQ(read(kConfig, kOwn, packed)->all.group, 128u);
  EXPECT_TRUE(read(kConfig, kSecond, packed)->has_whole_zeros);
  EXPECT_TRUE(read("{}", kSecond, plain)->where.empty());
  EXPECT_TRUE(
      read(R"({"quantization": {"bits": 4, "group_size": 64}})", kSecond, packed).has_value());
}

TEST(Quantization, PromisesTensors) {
  const auto found = [](const char* text) {
    const auto read = declared(text);
    EXPECT_TRUE(read) << read.error().message;
    std::string out;
    for (const Quantization::Promise& one : read->promises) {
      out += fmt::format("{}{}\n", one.bits, one.suffix);
    }
    return out;
  };
  EXPECT_EQ(found(R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32,
      "desc_act": true, "dynamic": {"+:a": {"bits": 8}}}})"),
            "0.g_idx\n");
  EXPECT_EQ(found(R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32,
      "desc_act": true, "dynamic": {"+:a": {"desc_act": false}}}})"),
            "");
  // Groups of the same bits that do not agree leave open which one a matrix is of.
  EXPECT_EQ(found(R"({"quantization_config": {"quant_method": "compressed-tensors",
      "config_groups": {"a": {"weights": {"num_bits": 4, "symmetric": false}},
                        "b": {"weights": {"num_bits": 8, "symmetric": false}},
                        "c": {"weights": {"num_bits": 8, "actorder": "weight"}}}}})"),
            "4.weight_zero_point\n");
}

TEST(Quantization, MustNotContradictTheTensors) {
  const Checkpoint c = affine({4, 16}, {4, 2});
  const TensorFile file = c.file();
  const auto error = [&](const char* text) {
    const auto read = declared(text);
    EXPECT_TRUE(read) << read.error().message;
    const auto found = locate(file, "x.weight", 4, 128, *read);
    return found ? "" : found.error().message;
  };
  EXPECT_EQ(error(R"({"quantization": {"bits": 4, "group_size": 64}})"), "");
  EXPECT_EQ(error(R"({"quantization": {"bits": 8, "group_size": 32,
      "x": {"bits": 4, "group_size": 64}}})"),
            "");
  expect_words(error(R"({"quantization": {"bits": 8, "group_size": 64}})"),
               {"bits is 8", "\"x.weight\"", "4 bits"});
  expect_words(error(R"({"quantization": {"bits": 4, "group_size": 32}})"),
               {"group_size is 32", "\"x.scales\"", "per 64 columns"});
}

/// Two projections of one input, their columns ordered by `second` and by the first's groups.
Result<Graph> two_products(bool same) {
  Checkpoint c;
  c.add("embed.weight", DType::kF32, {50, 128});
  uint64_t at[2] = {};
  for (const std::string name : {"a", "b"}) {
    c.add((name + ".qweight").c_str(), DType::kI32, {16, 32});
    c.add((name + ".qzeros").c_str(), DType::kI32, {4, 4});
    c.add((name + ".scales").c_str(), DType::kF16, {4, 32});
    at[name == "b"] = c.bytes;
    c.add((name + ".g_idx").c_str(), DType::kI32, {128});
  }
  std::vector<std::byte> bytes(size_t(c.bytes));
  for (size_t i = 0; i < 128; ++i) {
    bytes[size_t(at[0]) + 4 * i] = std::byte(i % 4);
    bytes[size_t(at[1]) + 4 * i] = std::byte(same ? i % 4 : 3 - i % 4);
  }
  const TensorFile file =
      *TensorFile::make({memory_source("memory", bytes)}, c.infos, Json(Json::Object{}));
  ModelBuilder b(file, {}, "");
  const ValueId x = b.embed(b.token_ids(), b.matrix("embed.weight", 50, 128));
  const ValueId first = b.projection(x, "a", 32);
  const ValueId second = b.projection(x, "b", 32);
  return b.finish(b.add(first, second));
}

TEST(ModelBuilder, PutsTheInputIntoTheOrderOfTheColumnsOnce) {
  for (const bool same : {true, false}) {
    const auto graph = two_products(same);
    ASSERT_TRUE(graph) << graph.error().message;
    size_t gathers = 0;
    for (const Node& node : graph->nodes) {
      gathers += std::holds_alternative<GatherColumns>(node.op);
      if (std::holds_alternative<Linear>(node.op)) {
        EXPECT_EQ(graph->at(node.inputs[1]).dtype, *dtype_from_name("zero4_g32_f16"));
      }
    }
    EXPECT_EQ(gathers, same ? 1u : 2u);
  }
}

TEST(ModelBuilder, QuantizesRowsOfWholeBlocks) {
  Checkpoint c;
  c.add("a.weight", DType::kBF16, {4, 64}).add("b.weight", DType::kBF16, {4, 33});
  c.add("c.weight", DType::kQ8_0, {4, 64});
  const TensorFile file = c.file();
  ModelBuilder b(file, {.quantize = DType::kQ4_0}, "");
  EXPECT_EQ(b.at(b.matrix("a.weight", 4, 64)).dtype, DType::kQ4_0);
  EXPECT_EQ(b.at(b.matrix("b.weight", 4, 33)).dtype, DType::kBF16);
  EXPECT_TRUE(b.ok());
  const auto graph = b.finish(b.matrix("c.weight", 4, 64));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::kUsage);
  expect_words(graph.error().message, {"quantize is for", "\"c.weight\"", "q8_0"});
}

TEST(ModelBuilder, TakesTurnedRowsAndRaisedNormsFromTheFile) {
  Checkpoint c;
  c.add("q.weight", DType::kQ8_0, {8, 64}).add("norm.weight", DType::kF32, {4});
  c.infos[0].rope_heads = 2;
  c.infos[1].raised = true;
  const TensorFile file = c.file();
  ModelBuilder b(file, {}, "");
  const auto weight = [&](ValueId id) { return std::get<Weight>(b.at(id).recipe); };
  EXPECT_EQ(weight(b.matrix("q.weight", 8, 64)).parts[0].rope_heads, 2u);
  EXPECT_FALSE(weight(b.vector("norm.weight", 4, true)).add_one);
}

}  // namespace
}  // namespace tokamak
