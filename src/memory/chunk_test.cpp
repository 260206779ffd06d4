#include "memory/chunk.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "memory/fixture_test.h"

namespace tokamak::memory {
namespace {

std::vector<std::string> texts(std::string_view text, size_t tokens, size_t overlap = 0) {
  std::vector<std::string> out;
  size_t covered = 0;
  for (const Chunk& chunk : value(chunks_of(text, count_words, {tokens, overlap}))) {
    EXPECT_LE(chunk.start, covered);
    EXPECT_GT(chunk.stop, covered);
    covered = chunk.stop;
    out.emplace_back(text.substr(chunk.start, chunk.stop - chunk.start));
    EXPECT_EQ(chunk.tokens, *count_words(out.back()));
    EXPECT_LE(chunk.tokens, tokens);
  }
  EXPECT_EQ(covered, text.size());
  return out;
}

using Texts = std::vector<std::string>;

TEST(Chunks, KeepAShortTextWhole) {
  EXPECT_EQ(texts("# A\n\nOne two.\n\n\nThree.\n", 10), Texts{"# A\n\nOne two.\n\n\nThree.\n"});
}

TEST(Chunks, AreCutAtHeadingsFirst) {
  EXPECT_EQ(
      texts("# A\n\none two three four.\n\nfive six.\n# B\n\nseven eight nine.\n\nten eleven.", 12),
      (Texts{"# A\n\none two three four.\n\nfive six.\n",
             "# B\n\nseven eight nine.\n\nten eleven."}));
}

TEST(Chunks, AreCutAtBlankLinesBeforeSentences) {
  EXPECT_EQ(texts("one two. three four.\n\nfive six. seven eight. nine ten.", 8),
            (Texts{"one two. three four.\n\n", "five six. seven eight. nine ten."}));
}

TEST(Chunks, AreCutAtSentences) {
  EXPECT_EQ(texts("One two three. Four (five!) six? \"Seven.\" Eight nine ten.", 6),
            (Texts{"One two three. Four (five!) six? ", "\"Seven.\" Eight nine ten."}));
  EXPECT_EQ(texts("Version 2.5 is e.g. here. 一二。三四。", 5),
            (Texts{"Version 2.5 is e.g. here. ", "一二。三四。"}));
}

TEST(Chunks, ContinueUntilTheyAreHalfFull) {
  EXPECT_EQ(texts("a.\n\nb c d. e f g. h i.", 7), (Texts{"a.\n\nb c d. e f g. ", "h i."}));
}

TEST(Chunks, AreCutAtTheLaterOfEqualPlaces) {
  EXPECT_EQ(texts("a b c d.\n\ne.\n\nf. g h i.", 7), (Texts{"a b c d.\n\ne.\n\n", "f. g h i."}));
}

TEST(Chunks, LeaveAHeadingWithWhatFollows) {
  EXPECT_EQ(texts("one two three.\n\n## Next\n\nfour five six.", 6),
            (Texts{"one two three.\n\n", "## Next\n\nfour five six."}));
  EXPECT_EQ(texts("## A long heading here\n\nfour five six. seven eight.", 8),
            (Texts{"## A long heading here\n\nfour five six. ", "seven eight."}));
  EXPECT_EQ(texts("one two three four.\n\n## Next\n\nfive six seven.", 6),
            (Texts{"one two three four.\n\n", "## Next\n\nfive six seven."}));
}

TEST(Chunks, DoNotCutCodeAndRowsThatFit) {
  const std::string code = "```\nint a;\n\nint b; int c;\n# no heading\n```\n";
  EXPECT_EQ(texts("one two three four five six.\n\n" + code + "seven.", 14),
            (Texts{"one two three four five six.\n\n", code + "seven."}));
  EXPECT_EQ(texts("| a. b | c |\n| d. e | f |\n| g. h | i |\n", 14),
            (Texts{"| a. b | c |\n| d. e | f |\n", "| g. h | i |\n"}));
}

TEST(Chunks, CutCodeThatDoesNotFitAtLines) {
  EXPECT_EQ(texts("```\na b c\nd e f\n```\n", 4), (Texts{"```\na b c\n", "d e f\n```\n"}));
}

TEST(Chunks, CutWhatHasNoSentences) {
  EXPECT_EQ(texts("a b c d e f g", 3), (Texts{"a b c ", "d e f ", "g"}));
  const auto count_bytes = [](std::string_view text) -> Result<size_t> { return text.size(); };
  const std::string word = "ααααααα";
  size_t covered = 0;
  for (const Chunk& chunk : value(chunks_of(word, count_bytes, {5, 0}))) {
    EXPECT_EQ(chunk.start, covered);
    EXPECT_LE(chunk.tokens, 5u);
    EXPECT_TRUE(is_valid_utf8(std::string_view(word).substr(chunk.start, chunk.stop - covered)));
    covered = chunk.stop;
  }
  EXPECT_EQ(covered, word.size());
}

TEST(Chunks, OverlapInWholeSentences) {
  EXPECT_EQ(texts("a b. c d. e f. g h. i j.", 6, 2), (Texts{"a b. c d. e f. ", "e f. g h. i j."}));
  EXPECT_EQ(texts("a b. c d. e f. g h. i j.", 6, 1), (Texts{"a b. c d. e f. ", "g h. i j."}));
}

TEST(Chunks, DoNotOverlapAcrossHeadings) {
  EXPECT_EQ(texts("a b. c d.\n# E\nf g. h.", 6, 3), (Texts{"a b. c d.\n", "# E\nf g. h."}));
}

TEST(Chunks, ContinueAfterASentenceAsLongAsAChunk) {
  EXPECT_EQ(texts("a. b c d e f. g.", 5, 2), (Texts{"a. ", "b c d e f. ", "g."}));
}

TEST(Chunks, CountWhatIsCountedTogether) {
  // A tokenizer may make more of a whole than of its parts.
  const auto count = [](std::string_view text) -> Result<size_t> {
    return *count_words(text) + (text.find("b. c") != text.npos ? 3 : 0);
  };
  const auto chunks = value(chunks_of("a b. c d. e f.", count, {6, 0}));
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0].stop, 5u);
}

TEST(Chunks, AreTheWholeTextWhateverItIs) {
  const std::string_view parts[] = {"\n",      "\n\n",  "# H\n", "```\n", "a b. ",
                                    "| x |\n", "- i\n", "…",     "。",    " "};
  uint64_t state = 7;
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += parts[(state >> 33) % std::size(parts)];
    }
    texts(text, 1 + size_t(round) % 9, size_t(round) % 5);
  }
}

}  // namespace
}  // namespace tokamak::memory
