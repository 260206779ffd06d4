#include "base/scan.h"

#include <gtest/gtest.h>

#include <clocale>

namespace tokamak {
namespace {

TEST(Scanner, ReadsNumbers) {
  const auto number = [](std::string_view text) { return Scanner(text).number(); };
  EXPECT_EQ(*number(" 1.5"), 1.5f);
  EXPECT_EQ(*number("-2e-3"), -0.002f);
  EXPECT_EQ(*number("1e+10"), 1e10f);
  EXPECT_EQ(*number("1e-45"), 1e-45f);
  for (const char* wrong : {"", "x", "1.5x", "1e40", "inf", "nan", "-"}) {
    EXPECT_FALSE(number(wrong)) << wrong;
  }
}

/// The program around may have chosen a language with decimals after a comma. Machines without one
/// have nothing to show.
TEST(Scanner, ReadsNumbersTheSameInEveryLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"}) {
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;
  }
  EXPECT_EQ(*Scanner("1.5").number(), 1.5f);
  std::setlocale(LC_NUMERIC, before.c_str());
}

}  // namespace
}  // namespace tokamak
