#include "memory/normalise.h"

#include <gtest/gtest.h>

namespace tokamak::memory {
namespace {

TEST(Normalise, LeavesPlainTextAlone) {
  EXPECT_EQ(normalise("a\tb\n\nc ü 漢字 👍\n"), "a\tb\n\nc ü 漢字 👍\n");
}

TEST(Normalise, MakesOneLineEndOfAllKinds) {
  EXPECT_EQ(normalise("a\r\nb\rc\vd\fe\u0085f\u2028g\u2029h\r\n\r\n"),
            "a\nb\nc\nd\ne\nf\ng\nh\n\n");
}

TEST(Normalise, ComposesCharacters) {
  EXPECT_EQ(normalise("Cafe\u0301"), "Caf\u00e9");
}

TEST(Normalise, LeavesOutControlCharacters) {
  EXPECT_EQ(normalise("\ufeffa\x01\x1b[31mb\x7f\u0090"), "a[31mb");
}

TEST(Normalise, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(normalise("a\xff"
                      "b"),
            "a\ufffdb");
}

}  // namespace
}  // namespace tokamak::memory
