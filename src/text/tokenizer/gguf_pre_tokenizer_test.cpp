#include "text/tokenizer/gguf_pre_tokenizer.h"

#include <gtest/gtest.h>

#include "text/tokenizer/byte_level.h"

namespace tokamak {
namespace {

constexpr std::string_view kSentence =
    "I'll DON'T getUserName's 1234567 \u00bd caf\u00e9 \u6f22\u5b57\u304b\u306a\uff0c\ud55c\uae00 "
    "\u0e44\u0e17\u0e22\u0e01\u0e47 x\r\n\n   ok!?/  <a_b>  \u05d0\u05d1 \u2167   ";
constexpr std::string_view kOddities =
    "3.14159,10000 \u4e2dA\u4e2d\u30ab\u30bf\u1100 \u1f7b\u10d0 a b\u0301c "
    "<sentinel:12>\tIMGIMGACZ'S";

/// The words of `text`, with "|" between them, or the message of an error.
std::string gguf_words(std::string_view name, std::string_view text) {
  const auto found = find_gguf_pre_tokenizer(name);
  if (!found) return found.error().message;
  WordList list{std::string(text), {{{0, text.size()}, true}}};
  if (auto applied = found->pre_tokenizer.apply(list); !applied) return applied.error().message;
  std::string joined;
  for (const auto& word : list.words) {
    if (!joined.empty()) joined += '|';
    joined += bytes_of_chars(list.view(word));
  }
  return joined;
}

/// The expectations are Python's: its module `regex`, given the expressions one after the other.
TEST(GgufPreTokenizer, CutsHardTexts) {
  struct Case {
    std::string_view name, sentence, oddities;
  };
  constexpr Case kCases[] = {
      {"deepseek-llm",
       "I|'|ll| DON|'|T| getUserName|'|s| |1|2|3|4|5|6|7| |\u00bd| caf|\u00e9| "
       "|\u6f22\u5b57\u304b\u306a|\uff0c|\ud55c\uae00| |\u0e44\u0e17\u0e22\u0e01\u0e47| "
       "x|\r|\n|\n|  | ok|!?/| | <|a|_|b|>|  \u05d0\u05d1 |\u2167|   ",
       "3|.|1|4|1|5|9|,|1|0|0|0|0| |\u4e2d|A|\u4e2d\u30ab\u30bf\u1100| |\u1f7b|\u10d0| a| "
       "b|\u0301|c| <|sentinel|:|1|2|>|\tIMGIMGACZ|'|S"},
      {"jina-v2-code",
       "I|'ll| DON|'|T| getUserName|'s| 1234567| \u00bd| caf\u00e9| "
       "\u6f22\u5b57\u304b\u306a|\uff0c|\ud55c\uae00| \u0e44\u0e17\u0e22\u0e01|\u0e47| x|\r\n\n  | "
       "ok|!?/| | <|a|_|b|>| | \u05d0\u05d1| \u2167|   ",
       "3|.|14159|,|10000| \u4e2dA\u4e2d\u30ab\u30bf\u1100| \u1f7b\u10d0| a| b|\u0301|c| "
       "<|sentinel|:|12|>|\t|IMGIMGACZ|'|S"},
      {"kimi-k2",
       "I'll| DON'T| get|User|Name's| |123|456|7| |\u00bd| caf\u00e9| "
       "|\u6f22\u5b57|\u304b\u306a|\uff0c\ud55c\uae00| \u0e44\u0e17\u0e22\u0e01\u0e47| x|\r\n\n|  "
       "| ok|!?/| | <|a|_b|>| | \u05d0\u05d1| |\u2167|   ",
       "3|.|141|59|,|100|00| |\u4e2d|A|\u4e2d|\u30ab\u30bf\u1100| \u1f7b\u10d0| a| b\u0301c| "
       "<|sentinel|:|12|>|\tIMGIMGACZ'S"},
      {"youtu",
       "I'll| DON'T| get|User|Name's| |1|2|3|4|5|6|7| |\u00bd| caf\u00e9| "
       "|\u6f22\u5b57\u304b\u306a|\uff0c|\ud55c\uae00| \u0e44\u0e17\u0e22\u0e01\u0e47| x|\r\n\n|  "
       "| ok|!?/| | <|a|_b|>| | \u05d0\u05d1| |\u2167|   ",
       "3|.|1|4|1|5|9|,|1|0|0|0|0| |\u4e2d|A|\u4e2d\u30ab\u30bf|\u1100| \u1f7b\u10d0| a| b\u0301c| "
       "<|sentinel|:|1|2|>|\tIMGIMGACZ'S"},
      {"exaone-moe",
       "I|'ll| DON|'T| getUserName|'s| |1|2|3|4|5|6|7| |\u00bd| caf\u00e9 "
       "\u6f22\u5b57\u304b\u306a|\uff0c\ud55c\uae00 \u0e44\u0e17\u0e22\u0e01\u0e47 x|\r\n\n|  | "
       "ok|!?/| | <|a|_b|>| | \u05d0\u05d1| |\u2167|   ",
       "3|.|1|4|1|5|9|,|1|0|0|0|0| \u4e2dA\u4e2d\u30ab\u30bf\u1100 \u1f7b\u10d0 a b\u0301c| "
       "<|sentinel|:|1|2|>|\tIMGIMGACZ|'S"},
      {"jais-2",
       "I|'ll| DON|'T| getUserName|'s| |123|456|7| |\u00bd| caf\u00e9| "
       "\u6f22\u5b57\u304b\u306a|\uff0c\ud55c\uae00| \u0e44\u0e17\u0e22\u0e01|\u0e47| x|\r\n\n|  | "
       "ok|!?/| | <|a|_b|>| | \u05d0\u05d1| |\u2167|  | ",
       "3|.|141|59|,|100|00| \u4e2dA\u4e2d\u30ab\u30bf\u1100| \u1f7b\u10d0| a| b|\u0301c| "
       "<|sentinel|:|12|>|\tIMGIMGACZ|'S"},
      {"afmoe",
       "I|'ll| DON|'T| getUserName|'s| |1|234|567| |\u00bd| caf\u00e9| "
       "|\u6f22\u5b57\u304b\u306a|\uff0c|\ud55c\uae00| |\u0e44|\u0e17\u0e22\u0e01|\u0e47| "
       "x|\r\n\n|  | ok|!?/| | <|a|_b|>| | \u05d0\u05d1| |\u2167|   ",
       "3|.|14|159|,|10|000| |\u4e2d|A|\u4e2d\u30ab\u30bf\u1100| \u1f7b\u10d0| a| b\u0301c| "
       "<|sentinel|:|12|>|\tIMGIMGACZ|'S"},
      {"superbpe",
       "I'll DON'T getUserName's |1|234|567| |\u00bd| caf\u00e9 "
       "\u6f22\u5b57\u304b\u306a\uff0c\ud55c\uae00 \u0e44\u0e17\u0e22\u0e01\u0e47 x\r\n\n   ok!?/  "
       "<a_b>  \u05d0\u05d1 |\u2167|   ",
       "3|.|14|159|,|10|000| \u4e2dA\u4e2d\u30ab\u30bf\u1100 \u1f7b\u10d0 a b\u0301c "
       "<sentinel:|12|>\tIMGIMGACZ'S"},
      {"chameleon",
       "I|'|ll| DON|'|T| getUserName|'|s| |1|2|3|4|5|6|7| |\u00bd| caf\u00e9| "
       "\u6f22\u5b57\u304b\u306a|\uff0c|\ud55c\uae00| \u0e44\u0e17\u0e22\u0e01|\u0e47| x|\r|\n|\n| "
       " | ok|!|?|/|  |<|a|_|b|>|  |\u05d0\u05d1| |\u2167|  | ",
       "3|.|1|4|1|5|9|,|1|0|0|0|0| \u4e2dA\u4e2d\u30ab\u30bf\u1100| \u1f7b\u10d0| a| b|\u0301|c| "
       "|<|sentinel|:|1|2|>|\t|IMGIMGACZ|'|S"},
  };
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(gguf_words(one.name, kSentence), one.sentence);
    EXPECT_EQ(gguf_words(one.name, kOddities), one.oddities);
  }
}

TEST(GgufPreTokenizer, CutsLongRunsOfDigitsFromTheRight) {
  const std::string digits(1000, '7');
  for (const std::string_view name : {"afmoe", "superbpe"}) {
    const std::string words = gguf_words(name, digits);
    EXPECT_EQ(words.substr(0, 10), "7|777|777|") << name;
    EXPECT_EQ(words.size(), 1000u + 333u) << name;
  }
}

}  // namespace
}  // namespace tokamak
