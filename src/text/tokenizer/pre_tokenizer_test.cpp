#include "text/tokenizer/pre_tokenizer.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The words of `text`, with "|" between them, or the message of an error.
std::string words_of(std::string_view json, std::string_view text, bool at_start = true) {
  auto pre_tokenizer = PreTokenizer::from_json(*Json::parse(json));
  if (!pre_tokenizer) return pre_tokenizer.error().message;
  WordList list{std::string(text), {{{0, text.size()}, at_start}}};
  if (auto applied = pre_tokenizer->apply(list); !applied) return applied.error().message;
  std::string joined;
  for (const auto& word : list.words) {
    if (!joined.empty()) joined += '|';
    joined += list.view(word);
  }
  return joined;
}

TEST(PreTokenizer, NullLeavesOneWord) {
  EXPECT_EQ(words_of("null", "a b"), "a b");
}

TEST(PreTokenizer, ByteLevelCutsWordsAndSpellsBytes) {
  const std::string json = R"({"type": "ByteLevel", "add_prefix_space": false})";
  EXPECT_EQ(words_of(json, "I'll go  \u00e9 12!"),
            "I|'ll|\u0120go|\u0120|\u0120\u00c3\u00a9|\u012012|!");
  EXPECT_EQ(words_of(R"({"type": "ByteLevel", "use_regex": false})", "a b"), "\u0120a\u0120b");
}

TEST(PreTokenizer, ByteLevelPrefixesEveryWordThatHasNoSpace) {
  EXPECT_EQ(words_of(R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"String": ","}, "behavior": "Removed"},
      {"type": "ByteLevel", "add_prefix_space": true}]})",
                     "a, b,c"),
            "\u0120a|\u0120b|\u0120c");
}

TEST(PreTokenizer, DigitsStandAlone) {
  EXPECT_EQ(words_of(R"({"type": "Digits", "individual_digits": true})", "a12b"), "a|1|2|b");
  EXPECT_EQ(words_of(R"({"type": "Digits", "individual_digits": false})", "a12b"), "a|12|b");
}

TEST(PreTokenizer, MetaspaceMarksAndCuts) {
  const std::string always = R"({"type": "Metaspace", "replacement": "_"})";
  EXPECT_EQ(words_of(always, "a b", false), "_a|_b");
  EXPECT_EQ(words_of(always, " a"), "_a");  // it has its mark already
  const std::string first =
      R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": false})";
  EXPECT_EQ(words_of(first, "a b", true), "_a_b");
  EXPECT_EQ(words_of(first, "a b", false), "a_b");
  const std::string never =
      R"({"type": "Metaspace", "replacement": "_", "add_prefix_space": false})";
  EXPECT_EQ(words_of(never, "a b"), "a|_b");
}

TEST(PreTokenizer, MetaspaceMarksOnlyTheFirstWordOfTheInput) {
  EXPECT_EQ(words_of(R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"String": ","}, "behavior": "Removed"},
      {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"}]})",
                     "a,b"),
            "_a|b");
}

TEST(PreTokenizer, CutsAtBlanksAndPunctuation) {
  EXPECT_EQ(words_of(R"({"type": "Whitespace"})", "It's 3.5 ok"), "It|'|s|3|.|5|ok");
  EXPECT_EQ(words_of(R"({"type": "Whitespace"})", "a\u200db \u200c!\U0001f469\u200d\U0001f4bb"),
            "a\u200db|\u200c|!\U0001f469|\u200d|\U0001f4bb");
  EXPECT_EQ(words_of(R"({"type": "WhitespaceSplit"})", "It's\u3000ok "), "It's|ok");
  EXPECT_EQ(words_of(R"({"type": "BertPreTokenizer"})", "It's ok"), "It|'|s|ok");
  EXPECT_EQ(words_of(R"({"type": "Punctuation"})", "a!?b c"), "a|!|?|b c");
  EXPECT_EQ(words_of(R"({"type": "Punctuation", "behavior": "Contiguous"})", "a!?b"), "a|!?|b");
  EXPECT_EQ(words_of(R"({"type": "CharDelimiterSplit", "delimiter": ","})", "a,,b"), "a|b");
}

TEST(PreTokenizer, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(words_of(R"({"type": "UnicodeScripts"})", ""),
            "The pre-tokenizer type \"UnicodeScripts\" is not supported.");
  EXPECT_EQ(words_of(R"({"type": "Punctuation", "behavior": "Sideways"})", ""),
            "The split behavior \"Sideways\" is not supported.");
  EXPECT_EQ(words_of(R"({"type": "Metaspace", "replacement": "__"})", ""),
            "\"replacement\" is \"__\"; one character is expected.");
  EXPECT_EQ(words_of(R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "last"})", ""),
            "The prepend scheme \"last\" is not supported.");
}

}  // namespace
}  // namespace tokamak
