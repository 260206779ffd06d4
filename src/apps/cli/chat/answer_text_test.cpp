#include "apps/cli/chat/answer_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace tokamak::cli {
namespace {

/// The rows that a terminal shows of it, which knows line ends, "back n" and "clear to the end".
std::vector<std::string> screen(const std::string& text) {
  std::vector<std::string> rows(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      rows.emplace_back();
    } else if (text[i] != '\033') {
      rows.back() += text[i];
    } else if (const size_t back = text.find('D', i); text.compare(i, 3, "\033[K") != 0) {
      rows.back().resize(rows.back().size() - std::stoul(text.substr(i + 2)));
      i = back;
    } else {
      i += 2;
    }
  }
  return rows;
}

std::vector<std::string> wrapped(size_t columns, const std::vector<std::string>& pieces) {
  WordWrap wrap(columns);
  std::string out;
  for (const std::string& piece : pieces) out += wrap.push(piece);
  std::vector<std::string> rows = screen(out);
  for (std::string& row : rows) row.resize(row.find_last_not_of(' ') + 1);
  return rows;
}

TEST(WordWrap, TakesAWordThatIsTooLongToTheNextLine) {
  const std::vector<std::string> rows = {"the quick", "brown fox"};
  EXPECT_EQ(wrapped(11, {"the quick brown fox"}), rows);
  EXPECT_EQ(wrapped(11, {"the qu", "ick bro", "wn", " fox"}), rows);
}

TEST(WordWrap, LeavesTheLastColumnFree) {
  for (const std::string& row : wrapped(8, {"one two three four five six seven eight nine"})) {
    EXPECT_LT(row.size(), 8u) << row;
  }
}

TEST(WordWrap, BreaksAWordThatIsLongerThanALine) {
  EXPECT_EQ(wrapped(5, {"a abcdefghij"}), (std::vector<std::string>{"a", "abcd", "efgh", "ij"}));
}

TEST(WordWrap, BeginsAnewAfterALineEnd) {
  EXPECT_EQ(wrapped(8, {"one\ntwo three"}), (std::vector<std::string>{"one", "two", "three"}));
}

TEST(WordWrap, BreaksScriptsWithoutSpacesAnywhere) {
  EXPECT_EQ(wrapped(6, {"日本語"}), (std::vector<std::string>{"日本", "語"}));
}

TEST(WordWrap, LeavesWhatIsNoTerminalAlone) {
  EXPECT_EQ(WordWrap(0).push("the quick brown fox"), "the quick brown fox");
}

}  // namespace
}  // namespace tokamak::cli
