#include "model/module_pattern.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

bool matches(std::string_view pattern, std::string_view module) {
  const auto parsed = ModulePattern::parse(pattern);
  EXPECT_TRUE(parsed) << pattern;
  return parsed && parsed->matches(module);
}

constexpr std::string_view kQ = "model.layers.0.self_attn.q_proj";
constexpr std::string_view kK11 = "model.layers.11.self_attn.k_proj";

TEST(ModulePattern, IsAllOfANameOrItsEndAfterADot) {
  EXPECT_TRUE(matches("q_proj", kQ));
  EXPECT_TRUE(matches("self_attn.q_proj", kQ));
  EXPECT_TRUE(matches("model.layers.0.self_attn.q_proj", kQ));
  EXPECT_FALSE(matches("proj", kQ));
  EXPECT_FALSE(matches("self_attn", kQ));
  EXPECT_FALSE(matches("1.self_attn.k_proj", kK11));
  EXPECT_FALSE(matches("base_model.model.model.layers.0.self_attn.q_proj", kQ));
}

TEST(ModulePattern, IsHeldToTheEndsByMarks) {
  EXPECT_TRUE(matches("^model.layers.0.self_attn.q_proj", kQ));
  EXPECT_TRUE(matches("^model\\.layers\\.0\\..*", kQ));
  EXPECT_FALSE(matches("^q_proj", kQ));
  EXPECT_FALSE(matches("^layers.0.self_attn.q_proj$", kQ));
  EXPECT_TRUE(matches("q_proj$", kQ));
}

TEST(ModulePattern, HasWhatRegularExpressionsHave) {
  EXPECT_TRUE(matches(".*\\.layers\\.(10|11)\\.self_attn\\.[qkv]_proj", kK11));
  EXPECT_FALSE(matches(".*\\.layers\\.(?:10|12)\\.self_attn\\.[qkv]_proj", kK11));
  EXPECT_TRUE(matches("layers\\.\\d+\\..*_proj", kK11));
  EXPECT_TRUE(matches("layers.[0-9]{2}.self_attn.k_proj", kK11));
  EXPECT_FALSE(matches("layers.[0-9]{3,}.self_attn.k_proj", kK11));
  EXPECT_TRUE(matches("self_attn.[^q]_pro?j+", kK11));
  EXPECT_TRUE(matches("(q|k)_proj|mlp.down", kK11));
  EXPECT_TRUE(matches("(a*)*b|k_proj", kK11)) << "no pattern takes long";
  EXPECT_TRUE(matches("[]k]_proj", kK11));
}

TEST(ModulePattern, RefusesWhatIsNotKnown) {
  for (const char* text : {"", "(", ")", "[a", "*a", "a**", "a{2", "a{3,2}", "(?!a)", "(?<=a)b",
                           "\\b", "\\1", "\\", "a{1001}"}) {
    EXPECT_FALSE(ModulePattern::parse(text)) << text;
  }
}

}  // namespace
}  // namespace tokamak
