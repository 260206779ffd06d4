// Tests after `is`. Every expected text is what jinja2 3.1 prints.
#include "text/template/test_render.h"

namespace tokamak::jinja {
namespace {

TEST(JinjaTests, DistinguishKinds) {
  EXPECT_EQ(value_of("n is number"), "True");
  EXPECT_EQ(value_of("true is number"), "True");
  EXPECT_EQ(value_of("n is integer"), "True");
  EXPECT_EQ(value_of("true is integer"), "False");
  EXPECT_EQ(value_of("true is boolean"), "True");
  EXPECT_EQ(value_of("f is float"), "True");
  EXPECT_EQ(value_of("s is string"), "True");
  EXPECT_EQ(value_of("d is mapping"), "True");
  EXPECT_EQ(value_of("l is mapping"), "False");
  EXPECT_EQ(value_of("l is sequence"), "True");
  EXPECT_EQ(value_of("s is sequence"), "True");
  EXPECT_EQ(value_of("n is sequence"), "False");
  EXPECT_EQ(value_of("l is iterable"), "True");
  EXPECT_EQ(value_of("n is iterable"), "False");
  EXPECT_EQ(value_of("none is none"), "True");
  EXPECT_EQ(value_of("none is not none"), "False");
  EXPECT_EQ(value_of("range is callable"), "True");
  EXPECT_EQ(value_of("s is callable"), "False");
  EXPECT_EQ(value_of("true is true"), "True");
  EXPECT_EQ(value_of("1 is true"), "False");
  EXPECT_EQ(value_of("'upper' is filter"), "True");
  EXPECT_EQ(value_of("'zz' is test"), "False");
  EXPECT_EQ(value_of("s is escaped"), "False");
}

TEST(JinjaTests, Compare) {
  EXPECT_EQ(value_of("n is eq 7"), "True");
  EXPECT_EQ(value_of("n is equalto(7)"), "True");
  EXPECT_EQ(value_of("n is ne 7"), "False");
  EXPECT_EQ(value_of("n is gt 5"), "True");
  EXPECT_EQ(value_of("n is ge 7"), "True");
  EXPECT_EQ(value_of("n is lt 5"), "False");
  EXPECT_EQ(value_of("n is le 7"), "True");
  EXPECT_EQ(value_of("n is in [7]"), "True");
  EXPECT_EQ(value_of("n is not in [7]"), "False");
  EXPECT_EQ(value_of("n is odd"), "True");
  EXPECT_EQ(value_of("n is even"), "False");
  EXPECT_EQ(value_of("n is divisibleby 7"), "True");
  EXPECT_EQ(value_of("n is divisibleby(3)"), "False");
  EXPECT_EQ(value_of("'A' is upper"), "True");
  EXPECT_EQ(value_of("'a' is lower"), "True");
  EXPECT_EQ(value_of("l is sameas l"), "True");
  EXPECT_EQ(value_of("[1] is sameas [1]"), "False");
}

TEST(JinjaTests, CombineWithOperators) {
  EXPECT_EQ(value_of("n is defined and n is odd or false"), "True");
  EXPECT_EQ(value_of("not n is defined"), "False");
  EXPECT_EQ(value_of("s is string and s | length > 3"), "True");
  EXPECT_EQ(value_of("'yes' if n is defined else 'no'"), "yes");
}

}  // namespace
}  // namespace tokamak::jinja
