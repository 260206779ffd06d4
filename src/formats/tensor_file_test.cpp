#include "formats/tensor_file.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

std::vector<std::shared_ptr<ByteSource>> two_sources() {
  return {memory_source("a", std::vector<std::byte>(4, std::byte{1})),
          memory_source("b", std::vector<std::byte>(6, std::byte{2}))};
}

TEST(TensorFile, FindsTensorsByNameAndReadsThemFromTheirFile) {
  auto file = TensorFile::make(two_sources(),
                               {{"z", DType::kF32, {1}, 0, 0, 4}, {"m", DType::kU8, {2}, 1, 3, 2}},
                               Json(Json::Object{}));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->tensors()[0].name, "m");
  EXPECT_EQ(file->find("mm"), nullptr);
  EXPECT_EQ(file->find(""), nullptr);
  EXPECT_EQ(file->find("zz"), nullptr);
  const TensorInfo* m = file->find("m");
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(file->file_name(*m), "b");
  EXPECT_EQ(file->data(*m)->size(), 2u);
  EXPECT_EQ(file->data(*m)->front(), std::byte{2});
}

TEST(TensorFile, RefusesTheSameNameTwice) {
  auto file = TensorFile::make(
      two_sources(), {{"z", DType::kU8, {1}, 0, 0, 1}, {"z", DType::kU8, {1}, 1, 0, 1}}, Json());
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message.substr(1), ": Tensor \"z\" occurs twice.");
}

TEST(TensorFile, DescribesTypeAndShape) {
  EXPECT_EQ(describe({.name = "w", .dtype = DType::kBF16, .shape = {512, 64}}), "bf16[512, 64]");
  EXPECT_EQ(describe({.name = "s", .dtype = DType::kF32, .shape = {}}), "f32[]");
}

TEST(TensorFileDeathTest, StopsOnARangeOutsideItsFile) {
  EXPECT_DEATH((void)TensorFile::make(two_sources(), {{"z", DType::kU8, {7}, 1, 0, 7}}, Json()),
               "tensor.bytes <= size");
}

}  // namespace
}  // namespace tokamak
