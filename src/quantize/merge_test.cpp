#include "quantize/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bits.h"

namespace tokamak {
namespace {

struct Made {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;
  DType dtype = DType::kF32;
};

/// A file whose tensors stand in that order after a header of 8 bytes.
TensorFile file_of(const std::vector<Made>& tensors) {
  std::vector<std::byte> bytes(8, std::byte{'h'});
  std::vector<TensorInfo> infos;
  for (const Made& one : tensors) {
    TensorInfo info{.name = one.name, .dtype = one.dtype, .shape = one.shape};
    info.offset = bytes.size();
    for (const float value : one.values) {
      const uint16_t half = f32_to_bf16(value);
      const auto* from = one.dtype == DType::kF32 ? reinterpret_cast<const std::byte*>(&value)
                                                  : reinterpret_cast<const std::byte*>(&half);
      bytes.insert(bytes.end(), from, from + dtype_bytes(one.dtype));
    }
    info.bytes = bytes.size() - info.offset;
    infos.push_back(std::move(info));
  }
  auto made = TensorFile::make({memory_source("model.safetensors", std::move(bytes))},
                               std::move(infos), Json(Json::Object{}));
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(TensorFile());
}

const std::string kModule = "model.layers.0.self_attn.q_proj";

/// Rank 1, alpha 2: W + 2 B A.
LoraFiles adapter_of(std::string name, std::vector<float> a, std::vector<float> b,
                     const std::string& module = kModule) {
  const std::string at = "base_model.model." + module;
  return {.name = std::move(name),
          .where = "folder",
          .scale = 1,
          .config = *Json::parse(R"({"peft_type": "LORA", "r": 1, "lora_alpha": 2})"),
          .tensors = file_of({{at + ".lora_A.weight", {1, a.size()}, a},
                              {at + ".lora_B.weight", {b.size(), 1}, b}})};
}

TensorFile model_of(DType dtype, std::vector<float> matrix = {1, 2, 3, 4, 5, 6}) {
  return file_of({{"model.embed_tokens.weight", {1, 2}, {9, 8}},
                  {kModule + ".weight", {2, 3}, std::move(matrix), dtype},
                  {"model.norm.weight", {2}, {7, 6}}});
}

Result<std::vector<std::byte>> merged(const TensorFile& model, std::span<const LoraFiles> adapters,
                                      uint32_t threads = 1) {
  TOK_TRY(const MergePlan plan, plan_merge(model, adapters));
  std::vector<std::byte> out;
  TOK_TRY(write_merged(model, plan, 0, {.threads = threads, .progress = {}, .cancelled = {}},
                       [&](std::span<const std::byte> bytes) -> Result<void> {
                         out.insert(out.end(), bytes.begin(), bytes.end());
                         return {};
                       }));
  return out;
}

std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

TEST(Merge, AddsWhatAllAdaptersAddAndLeavesTheRestAsItIs) {
  const TensorFile model = model_of(DType::kF32);
  const std::vector<LoraFiles> adapters = {adapter_of("one", {1, 0, -1}, {10, 20}),
                                           adapter_of("two", {0.5, 1, 0}, {1, 0})};
  const auto bytes = merged(model, adapters);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const std::span<const std::byte> all = *bytes;
  EXPECT_EQ(all.size(), 8 + 4 * (2 + 6 + 2));
  EXPECT_TRUE(std::ranges::all_of(all.first(8), [](std::byte b) { return b == std::byte{'h'}; }));
  EXPECT_EQ(floats(all.subspan(8)),
            (std::vector<float>{9, 8, 1 + 20 + 1, 2 + 2, 3 - 20, 4 + 40, 5, 6 - 40, 7, 6}));
}

TEST(Merge, RoundsToTheTypeOfTheModel) {
  const TensorFile model = model_of(DType::kBF16);
  const std::vector<LoraFiles> adapters = {adapter_of("one", {0.001f, 0, 0}, {1, 1000})};
  const auto bytes = merged(model, adapters);
  ASSERT_TRUE(bytes) << bytes.error().message;
  uint16_t first = 0, last = 0;
  std::memcpy(&first, bytes->data() + 16, 2);
  std::memcpy(&last, bytes->data() + 16 + 3 * 2, 2);
  EXPECT_EQ(bf16_to_f32(first), 1) << "0.002 is less than half a step";
  EXPECT_EQ(bf16_to_f32(last), 6);
}

TEST(Merge, GivesTheSameBytesForAnyNumberOfThreads) {
  std::vector<float> matrix(64 * 33), a(33), b(64);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = std::sin(float(i));
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::cos(float(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::sin(float(i) * 0.3f);
  const TensorFile model = file_of({{kModule + ".weight", {64, 33}, matrix, DType::kBF16}});
  const std::vector<LoraFiles> adapters = {adapter_of("one", a, b)};
  const auto one = merged(model, adapters, 1);
  ASSERT_TRUE(one) << one.error().message;
  for (const uint32_t threads : {2u, 5u, 100u}) {
    const auto other = merged(model, adapters, threads);
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(*other, *one) << threads;
  }
}

TEST(Merge, NamesTheNumberThatATypeCannotHold) {
  const TensorFile model = model_of(DType::kBF16);
  const std::vector<LoraFiles> adapters = {adapter_of("one", {0, 3e38f, 0}, {0, 1})};
  const auto bytes = merged(model, adapters);
  ASSERT_FALSE(bytes);
  EXPECT_TRUE(bytes.error().message.starts_with(
      "model.safetensors: tensor \"model.layers.0.self_attn.q_proj.weight\", row 1, column 1: the "
      "sum is "))
      << bytes.error().message;
}

TEST(Merge, RefusesPackedMatricesAndOtherModels) {
  TensorInfo packed{.name = kModule + ".weight", .dtype = DType::kU32, .shape = {2, 3}};
  packed.bytes = 24;
  const auto model =
      TensorFile::make({memory_source("packed.safetensors", std::vector<std::byte>(24))}, {packed},
                       Json(Json::Object{}));
  ASSERT_TRUE(model);
  const std::vector<LoraFiles> adapters = {adapter_of("one", {1, 0, -1}, {10, 20})};
  const auto refused = plan_merge(*model, adapters);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "packed.safetensors: tensor \"model.layers.0.self_attn.q_proj.weight\" is u32[2, 3]; "
            "adapters are merged into f32, f16 and bf16. Merge into the model that this one was "
            "made of, or run it with --lora.");
  const TensorFile floats = model_of(DType::kF32);
  const std::vector<LoraFiles> other = {adapter_of("one", {1}, {1}, "model.layers.9.mlp.up_proj")};
  const auto wrong = plan_merge(floats, other);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("which this model has no adaptable product of"),
            std::string::npos);
}

TEST(Merge, RefusesANameThatTwoTensorsMayHave) {
  const TensorFile model =
      file_of({{"model.layers.0.self_attn.q_proj.weight", {2, 3}, {1, 2, 3, 4, 5, 6}},
               {"language_model.layers.0.self_attn.q_proj.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}});
  const std::vector<LoraFiles> adapters = {adapter_of("one", {1, 0, -1}, {10, 20})};
  const auto refused = plan_merge(model, adapters);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("several tensors may be the"), std::string::npos);
}

}  // namespace
}  // namespace tokamak
