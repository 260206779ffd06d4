#include "kernels/unroll.h"

#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <sstream>

#include "kernels/sources.h"

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

/// A test of the layout, which the tree of a text does not have (cuda/parser_statements.cpp checks
/// the rest): the mark, and that the brace that ends the loop stands under its `for`.
TEST(Unroll, TheMarkedLoopsOfAllTextsAreLaidOutAsItReadsThem) {
  static const std::regex form(
      R"(( *)for \(var (\w+) = 0u; \2 < \w+; \2\+\+\) \{  // unroll(, at most \w+)?)");
  size_t found = 0;
  for (const EmbeddedFile& file : embedded_files()) {
    std::istringstream lines{std::string(file.text)};
    size_t number = 0;
    std::vector<std::pair<std::string, size_t>> open;  // indents of loops, and their lines
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const size_t indent = line.find_first_not_of(' ');
      if (!open.empty() && indent != line.npos && indent <= open.back().first.size()) {
        EXPECT_EQ(line, open.back().first + "}") << file.name << ":" << open.back().second;
        open.pop_back();
      }
      if (line.find(kUnrollMark) == line.npos) continue;
      std::smatch head;
      ASSERT_TRUE(std::regex_match(line, head, form)) << file.name << ":" << number;
      open.emplace_back(head[1], number);
      ++found;
    }
    EXPECT_TRUE(open.empty()) << file.name;
  }
  EXPECT_GT(found, 100u);
}

TEST(UnrollDeathTest, TakesACountWholeOrNotAtAll) {
  const auto loop = [](std::string_view count) {
    return fmt::format("for (var i = 0u; i < {}; i++) {{  // unroll\n}}\n", count);
  };
  EXPECT_DEATH(written(loop("2u * TWO")), "constant");
  EXPECT_DEATH(written(loop("EPS")), "value");
}

}  // namespace
}  // namespace tokamak
