#include "quantize/write.h"

#include <gtest/gtest.h>

#include <cmath>

#include "quantize/made_gguf_test.h"

namespace tokamak {
namespace {

std::vector<float> waves(size_t count) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = std::sin(float(i) * 0.7f) * 0.1f;
  return out;
}

Result<std::string> written(const GgufFile& file, const char* target, uint32_t threads = 1,
                            const GgufFile* sums = nullptr) {
  TOK_TRY(const TargetType* type, find_target_type(target));
  TOK_TRY(const QuantizationPlan plan, plan_quantization(file, *type, {}));
  std::string out;
  TOK_TRY(write_quantized(file, plan,
                          {.threads = threads, .sums = sums, .progress = {}, .cancelled = {}},
                          [&](std::span<const std::byte> bytes) -> Result<void> {
                            out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                            return {};
                          }));
  return out;
}

TEST(WriteQuantized, KeepsMetadataOrderAndNorms) {
  MadeGguf made;
  made.entries.push_back(gguf_entry("split.count", 1));
  made.add("z.weight", {7, 256}, waves(1000)).add("a_norm.weight", {5}, {1, 2, 3, 4, 5});
  made.add("b.weight", {2, 3, 512}, waves(999));
  const auto bytes = written(made.file(), "q4_k_m");
  ASSERT_TRUE(bytes) << bytes.error().message;
  const GgufFile file = MadeGguf::read(*bytes);
  EXPECT_EQ(file.metadata.values().dump(),
            R"({"general.file_type": 15, "made.number": 7, "general.quantization_version": 2})");
  ASSERT_EQ(file.tensors.tensors().size(), 3u);
  EXPECT_EQ(describe(*file.tensors.find("z.weight")), "q4_k[7, 256]");
  EXPECT_EQ(describe(*file.tensors.find("b.weight")), "q4_k[2, 3, 512]");
  EXPECT_LT(file.tensors.find("z.weight")->offset, file.tensors.find("a_norm.weight")->offset);
  const TensorInfo* norm = file.tensors.find("a_norm.weight");
  ASSERT_EQ(describe(*norm), "f32[5]");
  const auto data = file.tensors.data(*norm);
  ASSERT_TRUE(data);
  float last = 0;
  std::memcpy(&last, data->data() + 16, sizeof last);
  EXPECT_EQ(last, 5.0f);
}

TEST(WriteQuantized, WritesTheSameBytesWithAnyThreads) {
  MadeGguf made;
  made.add("a.weight", {37, 256}, waves(9000)).add("b.weight", {1, 2, 256}, waves(300));
  const GgufFile file = made.file();
  for (const char* type : {"q3_k", "q6_k", "q4_0", "f16"}) {
    const auto one = written(file, type), three = written(file, type, 3);
    const auto many = written(file, type, 64);
    ASSERT_TRUE(one && three && many) << type;
    EXPECT_EQ(*one, *three) << type;
    EXPECT_EQ(*one, *many) << type;
  }
}

TEST(WriteQuantized, LeavesWhatHasTheTypeAlready) {
  MadeGguf made;
  made.add("a.weight", {5, 512}, waves(2560));
  for (const char* type : {"q2_k", "q4_k", "q8_0"}) {
    const auto once = written(made.file(), type);
    ASSERT_TRUE(once) << once.error().message;
    const auto twice = written(MadeGguf::read(*once), type);
    ASSERT_TRUE(twice) << twice.error().message;
    EXPECT_EQ(*once, *twice) << type;
  }
}

TEST(WriteQuantized, ReadsPackedTypesAgain) {
  MadeGguf made;
  made.add("a.weight", {5, 512}, waves(2560));
  const auto six = written(made.file(), "q6_k");
  ASSERT_TRUE(six) << six.error().message;
  const auto wide = written(MadeGguf::read(*six), "f32");
  ASSERT_TRUE(wide) << wide.error().message;
  const GgufFile file = MadeGguf::read(*wide);
  const auto data = file.tensors.data(*file.tensors.find("a.weight"));
  ASSERT_TRUE(data);
  const auto expected = waves(2560);
  for (size_t i = 0; i < expected.size(); ++i) {
    float found = 0;
    std::memcpy(&found, data->data() + i * sizeof found, sizeof found);
    ASSERT_NEAR(found, expected[i], 0.003) << i;
  }
}

TEST(WriteQuantized, UsesTheImportanceOfEachExpert) {
  MadeGguf made, sums;
  made.add("a.weight", {2, 3, 256}, waves(1536)).add("b.weight", {3, 256}, waves(768));
  std::vector<float> values(512, 1.0f);
  for (size_t i = 256; i < 512; i += 5) values[i] = 1000;
  sums.add("a.weight.in_sum2", {2, 256}, values).add("a.weight.counts", {2, 1}, {1});
  const GgufFile weights = made.file(), importance = sums.file();
  const auto plain = written(weights, "q4_k"), weighted = written(weights, "q4_k", 4, &importance);
  ASSERT_TRUE(plain && weighted);
  ASSERT_EQ(plain->size(), weighted->size());
  EXPECT_NE(*plain, *weighted);
  // A matrix without an entry has the same bytes, and so has it with threads.
  const size_t last = plain->size() - 3 * 144 - 16;
  EXPECT_EQ(plain->substr(last), weighted->substr(last));
  EXPECT_EQ(*weighted, *written(weights, "q4_k", 1, &importance));
}

TEST(WriteQuantized, NamesTheTensorOfANumberThatIsNone) {
  MadeGguf made;
  auto values = waves(37 * 256);
  values[20 * 256 + 3] = values[30 * 256] = NAN;
  made.add("a.weight", {37, 256}, values);
  for (const uint32_t threads : {1u, 4u}) {
    const auto bytes = written(made.file(), "q4_k", threads);
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().message,
              "made: tensor \"a.weight\", row 20, column 3 is nan, expected a finite number.");
  }
}

TEST(WriteQuantized, EndsWhereItIsCancelled) {
  MadeGguf made;
  made.add("a.weight", {2, 256});
  const GgufFile file = made.file();
  const auto plan = plan_quantization(file, **find_target_type("q8_0"), {});
  ASSERT_TRUE(plan);
  const auto done = write_quantized(
      file, *plan,
      {.threads = 1, .sums = nullptr, .progress = {}, .cancelled = [] { return true; }},
      [](std::span<const std::byte>) { return Result<void>(); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace tokamak
