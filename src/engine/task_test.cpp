#include "engine/task.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

DeviceInfo with_matrix_units() {
  DeviceInfo device;
  device.features = kFeatureSubgroupMatrix;
  return device;
}

std::vector<TensorInfo> one_tensor(DType dtype, uint64_t elements, uint64_t bytes) {
  TensorInfo tensor;
  tensor.dtype = dtype;
  tensor.shape = {elements};
  tensor.bytes = bytes;
  return {tensor};
}

constexpr uint64_t kLlama1B = 1'235'814'400, kLlama8B = 8'030'261'248;

TEST(DefaultChunk, GrowsWithTheWeightsWhereMatrixUnitsMultiply) {
  const DeviceInfo device = with_matrix_units();
  const auto llama = one_tensor(DType::kBF16, kLlama1B, 2 * kLlama1B);
  EXPECT_EQ(default_chunk(llama, 2048, device), 4096u);
  EXPECT_EQ(default_chunk(llama, 2048, DeviceInfo{}), 512u) << "no matrix units";
  const auto tiny = one_tensor(DType::kBF16, 1'000'000, 2'000'000);
  EXPECT_EQ(default_chunk(tiny, 64, device), 512u) << "activations would be larger than weights";
  EXPECT_EQ(default_chunk({}, 64, device), 512u);
}

TEST(DefaultChunk, IsShorterWhereWeightsAreSmallOrStepsLong) {
  const DeviceInfo device = with_matrix_units();
  const auto packed = one_tensor(DType::kQ4_0, kLlama1B, kLlama1B * 9 / 16);
  EXPECT_EQ(default_chunk(packed, 2048, device), 1024u);
  const auto large = one_tensor(DType::kBF16, kLlama8B, 2 * kLlama8B);
  EXPECT_EQ(default_chunk(large, 4096, device), 512u) << "16 TFLOP for 1024 tokens";
}

TEST(DefaultChunk, CountsTheWeightsInsideOfWords) {
  const auto words = one_tensor(DType::kU32, kLlama8B / 8, kLlama8B / 2);
  EXPECT_EQ(default_chunk(words, 1024, with_matrix_units()), 512u);
}

TEST(TextRows, AreThousandsWhereMatrixUnitsMultiply) {
  DeviceInfo device = with_matrix_units();
  device.limits.binding_bytes = uint64_t{1} << 40;
  const auto base = one_tensor(DType::kF16, 109'000'000, 218'000'000);
  EXPECT_EQ(text_rows(base, 512, 768, device), 8192u);
  EXPECT_EQ(text_rows(base, 512, 2048, device), 4096u) << "256 MiB of activations";
  EXPECT_EQ(text_rows(base, 512, 768, DeviceInfo{}), 512u) << "no matrix units";
  const auto large = one_tensor(DType::kBF16, kLlama8B, 2 * kLlama8B);
  EXPECT_EQ(text_rows(large, 512, 4096, device), 747u) << "12 TFLOP";
  EXPECT_EQ(text_rows(large, 2048, 4096, device), 2048u) << "no less than a text";
  EXPECT_EQ(text_rows({}, 512, 768, device), 8192u);
  device.limits.binding_bytes = uint64_t{32} << 20;
  EXPECT_EQ(text_rows(base, 512, 1024, device), 1024u) << "what a kernel binds at once";
}

TEST(FusionTarget, TakesNoMoreThanEveryDeviceGrantsAndWhatThisOneHas) {
  DeviceInfo device;
  device.limits.storage_buffers = 16;
  device.limits.binding_bytes = uint64_t{4} << 30;
  device.size.multiprocessors = 20;
  const fuse::Target large = fusion_target(device);
  EXPECT_EQ(large.max_bindings, fuse::Target().max_bindings);
  EXPECT_EQ(large.max_binding_bytes, fuse::Target().max_binding_bytes);
  EXPECT_EQ(large.multiprocessors, 20u);
  EXPECT_FALSE(large.has_library);
  device.features = kFeatureLibrary;
  EXPECT_TRUE(fusion_target(device).has_library);
  device.limits.storage_buffers = 6;
  device.limits.binding_bytes = 1 << 20;
  EXPECT_EQ(fusion_target(device).max_bindings, 6u);
  EXPECT_EQ(fusion_target(device).max_binding_bytes, uint64_t{1} << 20);
}

TEST(FindEncoder, FollowsTheFileUnlessToldOtherwise) {
  const auto found = [](std::string file, std::string asked, Task task) -> std::string {
    ModelDescription description;
    description.pooling = std::move(file);
    OpenOptions options;
    options.pooling = std::move(asked);
    options.task = task;
    const auto encoder = find_encoder(description, options);
    if (!encoder) return encoder.error().message;
    if (!*encoder) return "none";
    return (*encoder)->head.pooling == Pooling::kMean   ? "mean"
           : (*encoder)->head.pooling == Pooling::kLast ? "last"
                                                        : "cls";
  };
  EXPECT_EQ(found("", "", Task::kAny), "none");
  EXPECT_EQ(found("last", "", Task::kAny), "last");
  EXPECT_EQ(found("cls", "", Task::kEmbeddings), "cls");
  EXPECT_EQ(found("last", "mean", Task::kEmbeddings), "mean");
  EXPECT_EQ(found("rank", "", Task::kText), "none");
  EXPECT_NE(found("rank", "", Task::kEmbeddings).find("ranks texts"), std::string::npos);
  EXPECT_EQ(found("rank", "mean", Task::kEmbeddings), "mean");
  EXPECT_NE(found("", "rank", Task::kEmbeddings).find("pooling is \"rank\""), std::string::npos);
}

}  // namespace
}  // namespace tokamak
