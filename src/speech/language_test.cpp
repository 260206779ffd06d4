#include "speech/language.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

std::string code_of(std::string_view text) {
  static const std::set<std::string> kKnown = {"ca", "de", "en", "es", "fr",  "jw", "my",
                                               "nl", "no", "pt", "ro", "yue", "zh"};
  const auto code = language_code(text, kKnown);
  return code ? *code : code.error().message;
}

TEST(LanguageCode, TakesCodesAndNamesInAnyCase) {
  EXPECT_EQ(code_of("de"), "de");
  EXPECT_EQ(code_of("EN"), "en");
  EXPECT_EQ(code_of("german"), "de");
  EXPECT_EQ(code_of("French"), "fr");
  EXPECT_EQ(code_of("CANTONESE"), "yue");
  EXPECT_EQ(code_of(" en\n"), "en");
  EXPECT_EQ(code_of("<|fr|>"), "fr");
}

TEST(LanguageCode, TakesOtherNamesOfTheSame) {
  EXPECT_EQ(code_of("Mandarin"), "zh");
  EXPECT_EQ(code_of("castilian"), "es");
  EXPECT_EQ(code_of("Valencian"), "ca");
  EXPECT_EQ(code_of("burmese"), "my");
  EXPECT_EQ(code_of("Flemish"), "nl");
  EXPECT_EQ(code_of("moldovan"), "ro");
  EXPECT_EQ(code_of("jv"), "jw");
  EXPECT_EQ(code_of("nb"), "no");
}

TEST(LanguageCode, TakesLocales) {
  EXPECT_EQ(code_of("en-US"), "en");
  EXPECT_EQ(code_of("pt_BR"), "pt");
  EXPECT_EQ(code_of("de_AT.UTF-8"), "de");
  EXPECT_EQ(code_of("zh-Hans-CN"), "zh");
  EXPECT_EQ(code_of("cmn-Hans"), "zh");
}

TEST(LanguageCode, LeavesTheChoiceToTheModel) {
  EXPECT_EQ(code_of(""), "");
  EXPECT_EQ(code_of("auto"), "");
  EXPECT_EQ(code_of("Auto"), "");
}

TEST(LanguageCode, NamesTheLanguageAndWhatTheModelKnows) {
  const auto code = language_code("klingon", {"de", "en"});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, ErrorCode::kUsage);
  EXPECT_EQ(code.error().message,
            "The language is \"klingon\", which the model does not know; it knows de, en.");
  EXPECT_FALSE(language_code("german", {"en"}));
}

}  // namespace
}  // namespace tokamak
