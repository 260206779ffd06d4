#include "base/terminal_text.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(TerminalText, KeepsWhatOnlyShows) {
  const std::string text = "One line,\n\ttwo \"words\": äöü € 😀 \xc2\xa0 ~";
  EXPECT_EQ(terminal_text(text), text);
  EXPECT_EQ(terminal_text(""), "");
}

TEST(TerminalText, SpellsOutWhatATerminalWouldObey) {
  EXPECT_EQ(terminal_text("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(terminal_text("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(terminal_text("a\bb\x7f"), "a\\x08b\\x7f");
  EXPECT_EQ(terminal_text(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "2J"),
            "\\xc2\\x9b2J")
      << "the same in one character";
}

TEST(TerminalText, LeavesOutReturnsToTheStartOfTheLine) {
  EXPECT_EQ(terminal_text("safe\rfake\r\n"), "safefake\n");
}

TEST(TerminalText, SpellsOutWhatIsNotUtf8) {
  EXPECT_EQ(terminal_text("\x9b"
                          "2J"),
            "\\x9b2J")
      << "an escape on terminals of eight bits";
  EXPECT_EQ(terminal_text("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(terminal_text("\xe2\x82x"), "\\xe2\\x82x");
  EXPECT_EQ(terminal_text("\xc0\x9b\xff"), "\\xc0\\x9b\\xff");
}

}  // namespace
}  // namespace tokamak
