#include "kernels/unroll.h"

#include <gtest/gtest.h>

#include <array>

namespace tokamak {
namespace {

const std::array<Constant, 3> kConstants = {
    {{"TWO", 2u}, {"MANY", kMaxRounds + 1}, {"EPS", 1e-5f}}};

std::string written(std::string_view text) {
  return unroll_loops(text, kConstants);
}

TEST(Unroll, ARoundHasTheIndexAsAConstant) {
  EXPECT_EQ(written("a;\n"
                    "  for (var i = 0u; i < TWO; i++) {  // unroll\n"
                    "    x[i] = 1;\n"
                    "  }\n"
                    "b;\n"),
            "a;\n"
            "  {\n    const i = 0u;\n    x[i] = 1;\n  }\n"
            "  {\n    const i = 1u;\n    x[i] = 1;\n  }\n"
            "b;\n");
}

TEST(Unroll, InnerAndFollowingLoopsAreUnrolledToo) {
  EXPECT_EQ(written("for (var i = 0u; i < 1u; i++) {  // unroll\n"
                    "  for (var j = 0u; j < TWO; j++) {  // unroll\n"
                    "  }\n"
                    "}\n"
                    "for (var k = 0u; k < 1u; k++) {  // unroll\n"
                    "}\n"),
            "{\n  const i = 0u;\n"
            "  {\n    const j = 0u;\n  }\n"
            "  {\n    const j = 1u;\n  }\n"
            "}\n"
            "{\n  const k = 0u;\n}\n");
}

TEST(Unroll, LongLoopsAndThoseWithoutTheMarkStay) {
  const std::string_view plain = "for (var i = 0u; i < TWO; i++) {\n  x;\n}\n";
  EXPECT_EQ(written(plain), plain);
  EXPECT_EQ(written("for (var i = 0u; i < MANY; i++) {  // unroll\n  x;\n}\n"),
            "for (var i = 0u; i < MANY; i++) {\n  x;\n}\n");
}

TEST(Unroll, ALoopMayStaySooner) {
  const std::string_view loop = "for (var i = 0u; i < TWO; i++) {  // unroll, at most ";
  EXPECT_EQ(written(fmt::format("{}1\n  x;\n}}\n", loop)),
            "for (var i = 0u; i < TWO; i++) {\n  x;\n}\n");
  EXPECT_EQ(written(fmt::format("{}TWO\n  x;\n}}\n", loop)),
            "{\n  const i = 0u;\n  x;\n}\n{\n  const i = 1u;\n  x;\n}\n");
}

}  // namespace
}  // namespace tokamak
