#include "kernels/written_out.h"

#include <gtest/gtest.h>

#include <array>

namespace tokamak {
namespace {

const std::array<Constant, 3> kConstants = {
    {{"TWO", 2u}, {"MANY", kMostRounds + 1}, {"EPS", 1e-5f}}};

std::string written(std::string_view text) {
  return with_loops_written_out(text, kConstants);
}

TEST(WrittenOut, ARoundHasTheIndexAsAConstant) {
  EXPECT_EQ(written("a;\n"
                    "  for (var i = 0u; i < TWO; i++) {  // written out\n"
                    "    x[i] = 1;\n"
                    "  }\n"
                    "b;\n"),
            "a;\n"
            "  {\n    const i = 0u;\n    x[i] = 1;\n  }\n"
            "  {\n    const i = 1u;\n    x[i] = 1;\n  }\n"
            "b;\n");
}

TEST(WrittenOut, LoopsInsideAndBehindAreWrittenOutToo) {
  EXPECT_EQ(written("for (var i = 0u; i < 1u; i++) {  // written out\n"
                    "  for (var j = 0u; j < TWO; j++) {  // written out\n"
                    "  }\n"
                    "}\n"
                    "for (var k = 0u; k < 1u; k++) {  // written out\n"
                    "}\n"),
            "{\n  const i = 0u;\n"
            "  {\n    const j = 0u;\n  }\n"
            "  {\n    const j = 1u;\n  }\n"
            "}\n"
            "{\n  const k = 0u;\n}\n");
}

TEST(WrittenOut, LongLoopsAndThoseWithoutTheMarkStay) {
  const std::string_view plain = "for (var i = 0u; i < TWO; i++) {\n  x;\n}\n";
  EXPECT_EQ(written(plain), plain);
  EXPECT_EQ(written("for (var i = 0u; i < MANY; i++) {  // written out\n  x;\n}\n"),
            "for (var i = 0u; i < MANY; i++) {\n  x;\n}\n");
}

TEST(WrittenOut, ALoopMayStaySooner) {
  const std::string_view loop = "for (var i = 0u; i < TWO; i++) {  // written out, at most ";
  EXPECT_EQ(written(fmt::format("{}1\n  x;\n}}\n", loop)),
            "for (var i = 0u; i < TWO; i++) {\n  x;\n}\n");
  EXPECT_EQ(written(fmt::format("{}TWO\n  x;\n}}\n", loop)),
            "{\n  const i = 0u;\n  x;\n}\n{\n  const i = 1u;\n  x;\n}\n");
}

}  // namespace
}  // namespace tokamak
