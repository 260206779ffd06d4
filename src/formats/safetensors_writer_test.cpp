#include "formats/safetensors_writer.h"

#include <gtest/gtest.h>

#include <span>

#include "formats/safetensors.h"

namespace tokamak {
namespace {

TensorInfo info(const char* name, DType dtype, std::vector<uint64_t> shape, uint64_t bytes) {
  TensorInfo out;
  out.name = name;
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.bytes = bytes;
  return out;
}

TEST(SafetensorsWriter, IsReadBack) {
  std::string file =
      safetensors_header({info("b \"quoted\"", DType::kBF16, {3, 5}, 30),
                          info("a", DType::kU32, {2}, 8), info("c", DType::kF8E4M3, {}, 1)},
                         Json(Json::Object{{"format", "pt"}}));
  EXPECT_EQ(file.size() % 8, 0u);
  const size_t begin = file.size();
  file.resize(begin + 39);
  const auto bytes = std::as_bytes(std::span(file));
  const auto read = read_safetensors(memory_source("m", {bytes.begin(), bytes.end()}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata().dump(), R"({"format": "pt"})");
  ASSERT_EQ(read->tensors().size(), 3u);
  const TensorInfo *a = read->find("a"), *b = read->find("b \"quoted\""), *c = read->find("c");
  ASSERT_TRUE(a != nullptr && b != nullptr && c != nullptr);
  EXPECT_EQ(describe(*b), "bf16[3, 5]");
  EXPECT_EQ(b->offset, begin);
  EXPECT_EQ(describe(*a), "u32[2]");
  EXPECT_EQ(a->offset, begin + 30);
  EXPECT_EQ(describe(*c), "f8e4m3[]");
}

}  // namespace
}  // namespace tokamak
