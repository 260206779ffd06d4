#include "text/tokenizer/vocabulary.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(Vocabulary, FindsTokensThatAllWantTheSameSlot) {
  constexpr size_t kTokens = 300, kSlots = 512;
  auto vocabulary = Vocabulary::with_room(kTokens, 0);
  ASSERT_TRUE(vocabulary);
  std::vector<std::string> tokens;
  for (size_t i = 0; tokens.size() < kTokens; ++i) {
    std::string token = fmt::format("t{}", i);
    const uint64_t hash = std::hash<std::string_view>{}(token)*uint64_t{0x9E3779B97F4A7C15u};
    if (hash % kSlots == 0) tokens.push_back(std::move(token));
  }
  for (uint32_t id = 0; id < kTokens; ++id) ASSERT_TRUE(vocabulary->add(tokens[id], id));
  for (uint32_t id = 0; id < kTokens; ++id) EXPECT_EQ(vocabulary->find(tokens[id]), id);
  EXPECT_EQ(vocabulary->find("none"), std::nullopt);
  EXPECT_EQ(vocabulary->add(tokens[kTokens - 1], kTokens).error().message,
            fmt::format("Token \"{}\" is in the vocabulary twice, with ids 299 and 300.",
                        tokens[kTokens - 1]));
}

}  // namespace
}  // namespace tokamak
