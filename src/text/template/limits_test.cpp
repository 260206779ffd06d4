// Templates from strangers: each limit is an error that says so, and nothing crashes or hangs.
#include <ctime>

#include "text/template/test_render.h"

namespace tokamak::jinja {
namespace {

std::string times(size_t count, std::string_view part) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += part;
  return all;
}

// Smaller than the default, to be quick.
constexpr RenderOptions kSmall = {.max_memory_bytes = 20'000'000};
constexpr RenderOptions kShort = {.max_steps = 1'000'000};
constexpr std::string_view kMemory =
    "error: line 1: The values of the template take more than 20000000 bytes.";
constexpr std::string_view kSyntaxDepth =
    "error: line 1: Expressions and blocks nest deeper than 150 levels.";

TEST(JinjaLimits, StepsAreCounted) {
  const std::string_view endless =
      "{% set r = range(99999) %}{% for a in r %}{% for b in r %}{% for c in r %}"
      "{% endfor %}{% endfor %}{% endfor %}";
  EXPECT_EQ(rendered(endless), "error: line 1: The template takes more than 20000000 steps.");
  EXPECT_EQ(rendered("{% for i in range(50) %}{% endfor %}", {.max_steps = 100}),
            "error: line 1: The template takes more than 100 steps.");
  EXPECT_EQ(rendered("{% for i in range(50) %}{% endfor %}", {.max_steps = 1000}), "");
}

TEST(JinjaLimits, KeysThatAHashWouldPutTogetherAreFoundAsFastAsOthers) {
  // All of them are one number as floats, and beyond the largest float infinite.
  for (const size_t digits : {size_t{30}, size_t{400}}) {
    std::string list = R"({"l": [0)";
    for (int i = 10'000; i < 40'000; ++i) list += fmt::format(",1{:0{}}", i, digits);
    const auto variables = Json::parse(list + "]}");
    const auto parsed = ChatTemplate::parse("{{ l | unique | list | length }}");
    ASSERT_TRUE(variables && parsed);
    const std::clock_t start = std::clock();  // of this process alone, however busy the machine is
    const auto text = parsed->render(*variables);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, "30001");
    EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 5);
  }
}

TEST(JinjaLimits, RecursionOfMacrosIsCounted) {
  EXPECT_EQ(rendered("{% macro m() %}{{ m() }}{% endmacro %}\n{{ m() }}"),
            "error: line 1: The template recurses deeper than 400 levels.");
  EXPECT_EQ(rendered("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}"),
            "error: line 1: The template recurses deeper than 400 levels.");
  EXPECT_EQ(rendered("{{ 1 + 2 }}", {.max_depth = 2}),
            "error: line 1: The template recurses deeper than 2 levels.");
  EXPECT_EQ(rendered("{{ 1 + 2 }}", {.max_depth = 3}), "3");
}

TEST(JinjaLimits, OutputIsCounted) {
  const std::string_view much = "{% for i in range(9999) %}{{ s * 1000 }}{% endfor %}";
  EXPECT_EQ(rendered(much), "error: line 1: The rendered text has more than 33554432 bytes.");
  EXPECT_EQ(rendered("abc{{ s }}", {.max_output_bytes = 13}),
            "error: line 1: The rendered text has more than 13 bytes.");
  EXPECT_EQ(rendered("abc{{ s }}", {.max_output_bytes = 14}), "abchello world");
}

TEST(JinjaLimits, MemoryIsCountedBeforeItIsTaken) {
  for (const char* expression :
       {"'abc' * 99999999999", "[1] * 99999999999", "9223372036854775807 * 'ab'",
        "s.center(9999999999)", "s.ljust(9223372036854775807)", "'1'.zfill(9999999999)",
        "s | center(9999999999)", "'a\\nb' | indent(9999999999)",
        "[[1]] | tojson(indent=9999999999)", "('a' * 99999) | replace('a', 'b' * 99999)",
        "('a' * 99999).replace('', 'b' * 99999)", "('b' * 99999).join(['a'] * 99999)",
        "(['a'] * 99999) | join('b' * 99999)", "[1] | batch(9999999, 1) | list"}) {
    EXPECT_EQ(rendered("{{ " + std::string(expression) + " }}", kSmall), kMemory) << expression;
  }
  EXPECT_EQ(rendered("{{ s * 100 }}", {.max_memory_bytes = 100'000}), times(100, "hello world"));
  EXPECT_EQ(rendered("{{ s * 10000 }}", {.max_memory_bytes = 100'000}),
            "error: line 1: The values of the template take more than 100000 bytes.");
  EXPECT_EQ(value_of("'%99999999999d' % 1"),
            "error: line 1: A width or precision is more than 100000000.");
  EXPECT_EQ(value_of("'%.9999f' % 1"), "error: line 1: A width or precision is more than 1000.");
  EXPECT_EQ(value_of("'{:.9999f}'.format(1)"),
            "error: line 1: A width or precision is more than 1000.");
}

TEST(JinjaLimits, RangesAreShort) {
  EXPECT_EQ(value_of("range(100000) | length"), "100000");
  for (const char* expression :
       {"range(100001)", "range(-9223372036854775807, 9223372036854775807)",
        "range(9223372036854775807, -9223372036854775807, -1)"}) {
    EXPECT_EQ(value_of(expression),
              "error: line 1: Range too big. Ranges may have at most 100000 items.")
        << expression;
  }
  EXPECT_EQ(value_of("range(0, 9223372036854775807, 9223372036854775807) | list"), "[0]");
  EXPECT_EQ(value_of("range(0, 5, 0)"), "error: line 1: range() arg 3 must not be zero");
}

TEST(JinjaLimits, ValuesThatDoubleStopEarly) {
  const std::string_view text =
      "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}"
      "{% endfor %}";
  EXPECT_EQ(rendered(text, kSmall), kMemory);
  EXPECT_EQ(rendered(text),
            "error: line 1: The values of the template take more than 268435456 bytes.");
  // Few values, but exponentially many ways through them.
  const std::string share =
      "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(99) %}"
      "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}";
  const std::string_view too_long = "error: line 1: The template takes more than 1000000 steps.";
  EXPECT_EQ(rendered(share + "{{ ns.x }}", kShort), too_long);
  EXPECT_EQ(rendered(share + "{{ ns.x | tojson }}", kShort), too_long);
  EXPECT_EQ(rendered(share + "{{ ns.x == ns.y }}", kShort), too_long);
  EXPECT_EQ(rendered(share + "{{ ns.x < ns.y }}", kShort), too_long);
}

TEST(JinjaLimits, ValuesNestOnlySoDeep) {
  EXPECT_EQ(rendered("{% set ns = namespace(x=[]) %}{% for i in range(999) %}"
                     "{% set ns.x = [ns.x] %}{% endfor %}"),
            "error: line 1: Lists and dicts nest deeper than 300 levels.");
  EXPECT_EQ(rendered("{% set ns = namespace(x=[]) %}{% for i in range(999) %}"
                     "{% set ns.x = {'a': ns.x} %}{% endfor %}"),
            "error: line 1: Lists and dicts nest deeper than 300 levels.");
}

TEST(JinjaLimits, NamespacesMayContainThemselvesButNotPrint) {
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me.me is defined }}"),
            "True");
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% set ns.me = [ns] %}{{ ns }}"),
            "error: line 1: The value to print contains itself.");
}

TEST(JinjaLimits, SyntaxNestsOnlySoDeep) {
  constexpr size_t kMany = 100'000;
  const auto wrapped = [](std::string_view open, std::string_view inner, std::string_view close) {
    return "{{ " + times(kMany, open) + std::string(inner) + times(kMany, close) + " }}";
  };
  const auto chained = [](std::string_view first, std::string_view next) {
    return "{{ " + std::string(first) + times(kMany, next) + " }}";
  };
  for (const std::string& source :
       {wrapped("[", "", "]"), wrapped("(", "1", ")"), wrapped("-", "1", ""),
        wrapped("not ", "1", ""), wrapped("{1:", "1", "}"), wrapped("a(", "1", ")"),
        wrapped("a[", "1", "]"), chained("a", ".a"), chained("a", "[0]"), chained("a", "()"),
        chained("a", "|b"), chained("1", " + 1"), chained("1", " and 1"),
        chained("1", " if 1 else 1"), chained("1", " if 1"), chained("1", " ** 1"),
        times(kMany, "{% if 1 %}"), times(kMany, "{% for i in l %}"),
        times(kMany, "{% macro m() %}")}) {
    EXPECT_EQ(rendered(source), kSyntaxDepth) << source.substr(0, 20);
  }
  EXPECT_EQ(rendered("{% set " + times(kMany, "(") + "a" + times(kMany, ")") + "= 1 %}"),
            "error: line 1: The targets nest too deep.");
  EXPECT_EQ(rendered("{{ " + times(70, "[") + times(70, "]") + " }}"),
            times(70, "[") + times(70, "]"));
}

TEST(JinjaLimits, TemplatesAreShort) {
  EXPECT_EQ(rendered(times(size_t{4 << 20} + 1, "a")),
            "error: The template has 4194305 bytes, more than 4194304.");
}

TEST(JinjaLimits, IntegersStayWithin64Bits) {
  for (const char* expression :
       {"9223372036854775807 + 1", "-9223372036854775807 - 2", "9223372036854775807 * 2", "2 ** 63",
        "(-9223372036854775807 - 1) // -1", "-(-9223372036854775807 - 1)",
        "(-9223372036854775807 - 1) | abs"}) {
    EXPECT_EQ(value_of(expression), "error: line 1: The result does not fit into 64 bits.")
        << expression;
  }
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) % -1"), "0");
  EXPECT_EQ(value_of("1e22 | int(-1)"), "10000000000000000000000");
  EXPECT_EQ(value_of("'%d' % 1e300"), "9200000000000000000");
  EXPECT_EQ(value_of("9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(value_of("s[9223372036854775807:]"), "");
  EXPECT_EQ(value_of("l[::9223372036854775807]"), "[3]");
  EXPECT_EQ(value_of("l[1::9223372036854775807]"), "[1]");
  EXPECT_EQ(value_of("l[:-9223372036854775807:-9223372036854775807]"), "[2]");
}

TEST(JinjaLimits, SearchingCostsSteps) {
  EXPECT_EQ(rendered("{% set a = 'a' * 999999 %}{% set b = 'a' * 499999 ~ 'b' %}"
                     "{% for i in range(9999) %}{% if b in a %}{% endif %}{% endfor %}"),
            "error: line 1: The template takes more than 20000000 steps.");
}

}  // namespace
}  // namespace tokamak::jinja
