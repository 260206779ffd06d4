#include "formats/printable.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(Printable, LeavesPlainTextAlone) {
  EXPECT_EQ(printable("model.norm.weight é"), "model.norm.weight é");
  EXPECT_EQ(printable(""), "");
  EXPECT_FALSE(has_control_character("model.norm.weight é"));
}

TEST(Printable, SpellsControlCharacters) {
  EXPECT_EQ(printable(std::string_view("a\0b\n\x1b[\x7f", 7)), "a\\x00b\\x0a\\x1b[\\x7f");
  EXPECT_TRUE(has_control_character("a\nb"));
  EXPECT_TRUE(has_control_character(std::string_view("\0", 1)));
  EXPECT_TRUE(has_control_character("\x7f"));
}

TEST(Printable, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(printable("a\xE6\x97"), "a\uFFFD");
  EXPECT_EQ(printable("\xFF\xFE"), "\uFFFD\uFFFD");
  EXPECT_EQ(printable(std::string(201, '\x80')), "...");
}

TEST(Printable, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(printable(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(printable(std::string(201, 'x')), std::string(200, 'x') + "...");
  EXPECT_EQ(printable(std::string(199, 'x') + "éx"), std::string(199, 'x') + "...");
}

}  // namespace
}  // namespace tokamak
