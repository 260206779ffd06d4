#include "backend/cpu/program.h"

#include <gtest/gtest.h>

#include <atomic>

#include "backend/tiny_plan.h"

namespace tokamak {
namespace {

/// Rows of the table, which is larger than what one thread reads.
constexpr uint32_t kLongVocab = 100'000;

TEST(CpuProgram, ReadsALargeConstantByShares) {
  const auto backend = make_vector_backend(3);
  ASSERT_NE(backend, nullptr);
  std::atomic<uint32_t> shares = 0;
  const auto count = [&](const TensorDesc& tensor, Share share, const WriteBytes& write) {
    if (tensor.name == "table") ++shares;
    return tiny_reader(4096)(tensor, share, write);
  };
  const auto program = backend->compile(tiny_plan(backend->device(), kLongVocab), count);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(shares, 2u);
  for (const uint32_t token : {0u, 49'999u, 50'000u, kLongVocab - 1}) {
    std::vector<float> result;
    ASSERT_TRUE((*program)->submit(
        tiny_step(token, [&](const auto& rows) { result.assign(rows->begin(), rows->end()); })));
    EXPECT_EQ(result, tiny_result(token)) << token;
  }
}

TEST(CpuProgram, GivesTheErrorOfAShareThatIsNotRead) {
  const auto backend = make_vector_backend(3);
  ASSERT_NE(backend, nullptr);
  const auto fails = [](const TensorDesc& tensor, Share share, const WriteBytes& write) {
    if (share.index == 1)
      return Result<void>(fail(ErrorCode::kInvalidInput, "{} is cut.", tensor.name));
    return tiny_reader(4096)(tensor, share, write);
  };
  const auto program = backend->compile(tiny_plan(backend->device(), kLongVocab), fails);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "table is cut.");
}

}  // namespace
}  // namespace tokamak
