// Filters. Every expected text is what jinja2 3.1 prints.
#include "text/template/test_render.h"

namespace tokamak::jinja {
namespace {

/// Pairs of an expression and what it prints.
void expect_values(std::initializer_list<std::pair<const char*, const char*>> cases) {
  for (const auto& [expression, printed] : cases)
    EXPECT_EQ(value_of(expression), printed) << expression;
}

TEST(JinjaFilters, ChangeTexts) {
  EXPECT_EQ(value_of("n | upper"), "7");
  EXPECT_EQ(value_of("s | title"), "Hello World");
  EXPECT_EQ(value_of("s | capitalize"), "Hello world");
  EXPECT_EQ(value_of("\"a-b (ef [gh\" | title"), "A-B (Ef [Gh");
  EXPECT_EQ(value_of("'  x ' | trim ~ '|'"), "x|");
  EXPECT_EQ(value_of("'xxaxx' | trim('x')"), "a");
  EXPECT_EQ(value_of("s | replace('o', '0')"), "hell0 w0rld");
  EXPECT_EQ(value_of("s | replace('o', '0', 1)"), "hell0 world");
  EXPECT_EQ(value_of("s | center(21)"), "     hello world     ");
  EXPECT_EQ(value_of("'<a>&\"' | e"), "&lt;a&gt;&amp;&#34;");
  EXPECT_EQ(value_of("'<b>' | safe"), "<b>");
  EXPECT_EQ(value_of("'a/b?c=d&é' | urlencode"), "a/b%3Fc%3Dd%26%C3%A9");
  EXPECT_EQ(value_of("'a b_c d-e 3' | wordcount"), "5");
}

TEST(JinjaFilters, Indent) {
  EXPECT_EQ(value_of("'a\\nb\\n\\nc' | indent"), "a\n    b\n\n    c");
  EXPECT_EQ(value_of("'a\\nb\\n\\nc' | indent(2, true)"), "  a\n  b\n\n  c");
  EXPECT_EQ(value_of("'a\\nb\\n\\nc' | indent(2, true, true)"), "  a\n  b\n  \n  c");
  EXPECT_EQ(value_of("'a\\nb' | indent('--')"), "a\n--b");
}

TEST(JinjaFilters, Truncate) {
  EXPECT_EQ(value_of("'foo bar baz qux' | truncate(9)"), "foo...");
  EXPECT_EQ(value_of("'foo bar baz qux' | truncate(9, true)"), "foo ba...");
  EXPECT_EQ(value_of("'foo bar baz qux' | truncate(11)"), "foo bar baz qux");
  EXPECT_EQ(value_of("'foo bar baz qux' | truncate(11, false, '...', 0)"), "foo bar...");
}

TEST(JinjaFilters, Format) {
  EXPECT_EQ(value_of("'%03d' | format(n)"), "007");
  EXPECT_EQ(value_of("'%s-%s' | format(1, 2)"), "1-2");
  EXPECT_EQ(value_of("'%(x)s' | format(x=1)"), "1");
}

TEST(JinjaFilters, WriteJson) {
  EXPECT_EQ(value_of("d | tojson"), "{\"b\": 1, \"a\": \"x\", \"items\": [1]}");
  EXPECT_EQ(value_of("d | tojson(indent=2)"),
            "{\n  \"b\": 1,\n  \"a\": \"x\",\n  \"items\": [\n    1\n  ]\n}");
  EXPECT_EQ(value_of("d | tojson(indent=0)"), "{\n\"b\": 1,\n\"a\": \"x\",\n\"items\": [\n1\n]\n}");
  EXPECT_EQ(value_of("d | tojson(sort_keys=true)"), "{\"a\": \"x\", \"b\": 1, \"items\": [1]}");
  EXPECT_EQ(value_of("d | tojson(separators=(',', ':'))"), "{\"b\":1,\"a\":\"x\",\"items\":[1]}");
  EXPECT_EQ(value_of("u | tojson"), "\"Grüße 😀\"");
  EXPECT_EQ(value_of("u | tojson(ensure_ascii=true)"), "\"Gr\\u00fc\\u00dfe \\ud83d\\ude00\"");
  EXPECT_EQ(value_of("'\\x00\\x1f\\x7f\\u2028\"/\\n\\t' | tojson"),
            "\"\\u0000\\u001f\177 \\\"/\\n\\t\"");
  EXPECT_EQ(value_of("[1.0, 1e20, 1e-7, true, none] | tojson"), "[1.0, 1e+20, 1e-07, true, null]");
  EXPECT_EQ(value_of("[[], {}] | tojson(indent=2)"), "[\n  [],\n  {}\n]");
  EXPECT_EQ(value_of("{1: 2, true: 1, none: 4} | tojson"), "{\"1\": 1, \"null\": 4}");
  EXPECT_EQ(value_of("\"<&>'\" | tojson"), "\"<&>'\"");
}

TEST(JinjaFilters, EscapeDeleteInAscii) {
  EXPECT_EQ(value_of("'a\x7f' | tojson(ensure_ascii=true)"), "\"a\\u007f\"");
  EXPECT_EQ(value_of("'a\x7f' | tojson"), "\"a\x7f\"");
}

TEST(JinjaFilters, RoundIntegersToIntegers) {
  EXPECT_EQ(value_of("[25 | round(-1), 35 | round(-1), -155 | round(-1), 26 | round(-1)]"),
            "[20, 40, -160, 30]");
  EXPECT_EQ(value_of("[5 | round(-1), -5 | round(-1), 5 | round(-19), 5 | round(-30)]"),
            "[0, 0, 0, 0]");
  EXPECT_EQ(value_of("12345678901234565 | round(-1)"), "12345678901234560");
  EXPECT_EQ(value_of("9223372036854775807 | round(-18)"), "9000000000000000000");
  EXPECT_EQ(value_of("9223372036854775807 | round(-1)"),
            "error: line 1: The result does not fit into 64 bits.");
  EXPECT_EQ(value_of("25.0 | round(-1)"), "20.0");
}

TEST(JinjaFilters, TurnIntoNumbers) {
  EXPECT_EQ(value_of("'-42' | int"), "-42");
  EXPECT_EQ(value_of("'3' | int"), "3");
  EXPECT_EQ(value_of("'3.7' | int"), "3");
  EXPECT_EQ(value_of("'abc' | int"), "0");
  EXPECT_EQ(value_of("'abc' | int(5)"), "5");
  EXPECT_EQ(value_of("'0x1f' | int(base=16)"), "31");
  EXPECT_EQ(value_of("-3.9 | int"), "-3");
  EXPECT_EQ(value_of("none | int"), "0");
  EXPECT_EQ(value_of("'1.5' | float"), "1.5");
  EXPECT_EQ(value_of("'x' | float(2.5)"), "2.5");
  EXPECT_EQ(value_of("-5 | abs"), "5");
  EXPECT_EQ(value_of("3.14159 | round(2)"), "3.14");
  EXPECT_EQ(value_of("2.5 | round"), "2.0");
  EXPECT_EQ(value_of("3.5 | round"), "4.0");
  EXPECT_EQ(value_of("2.675 | round(2)"), "2.67");
  EXPECT_EQ(value_of("5 | round"), "5");
  EXPECT_EQ(value_of("42.55 | round(1, 'ceil')"), "42.6");
  EXPECT_EQ(value_of("42.55 | round(1, 'floor')"), "42.5");
  EXPECT_EQ(value_of("1234.5 | round(-2)"), "1200.0");
}

TEST(JinjaFilters, Aggregate) {
  EXPECT_EQ(value_of("l | sum"), "6");
  EXPECT_EQ(value_of("people | sum(attribute='age')"), "7");
  EXPECT_EQ(value_of("l | min"), "1");
  EXPECT_EQ(value_of("l | max"), "3");
  EXPECT_EQ(value_of("people | min(attribute='name')"), "{'name': 'Al', 'age': 3}");
  EXPECT_EQ(value_of("[] | min"), "");
  EXPECT_EQ(value_of("l | length"), "3");
  EXPECT_EQ(value_of("u | length"), "7");
  EXPECT_EQ(value_of("l | first"), "3");
  EXPECT_EQ(value_of("s | last"), "d");
  EXPECT_EQ(value_of("[] | first"), "");
  EXPECT_EQ(value_of("l | join('-')"), "3-1-2");
  EXPECT_EQ(value_of("d | join(',')"), "b,a,items");
  EXPECT_EQ(value_of("people | join(',', attribute='name')"), "bob,Al,cy");
}

TEST(JinjaFilters, Sort) {
  EXPECT_EQ(value_of("l | sort"), "[1, 2, 3]");
  EXPECT_EQ(value_of("l | sort(reverse=true)"), "[3, 2, 1]");
  EXPECT_EQ(value_of("['b', 'A', 'c'] | sort"), "['A', 'b', 'c']");
  EXPECT_EQ(value_of("['b', 'A', 'c'] | sort(case_sensitive=true)"), "['A', 'b', 'c']");
  EXPECT_EQ(value_of("people | sort(attribute='age') | map(attribute='name') | list"),
            "['cy', 'bob', 'Al']");
  EXPECT_EQ(value_of("people | sort(attribute='age,name') | map(attribute='name') | list"),
            "['cy', 'Al', 'bob']");
  EXPECT_EQ(value_of("people | sort(attribute='age', reverse=true) | map(attribute='name') | list"),
            "['bob', 'Al', 'cy']");
  EXPECT_EQ(value_of("{'b': 2, 'a': 1} | dictsort"), "[('a', 1), ('b', 2)]");
  EXPECT_EQ(value_of("{'b': 1, 'a': 2} | dictsort(by='value')"), "[('b', 1), ('a', 2)]");
  EXPECT_EQ(value_of("l | reverse | list"), "[2, 1, 3]");
  EXPECT_EQ(value_of("s | reverse"), "dlrow olleh");
  EXPECT_EQ(value_of("['a', 'A', 'b'] | unique | list"), "['a', 'b']");
  EXPECT_EQ(value_of("['a', 'A', 'b'] | unique(true) | list"), "['a', 'A', 'b']");
  EXPECT_EQ(value_of("people | groupby('age')"),
            "[(1, [{'name': 'cy', 'age': 1}]), (3, [{'name': 'bob', 'age': 3}, {'name': 'Al', "
            "'age': 3}])]");
  EXPECT_EQ(value_of("people | groupby('age') | map(attribute='grouper') | list"), "[1, 3]");
}

// map and what chooses look whether the input counts as true before they walk through it, and even
// before they look at their arguments; no other filter does.
TEST(JinjaFilters, TakeNoneAndUndefinedAsTheReferenceDoes) {
  expect_values({
      {"none | map('upper') | list", "[]"},
      {"none | map(attribute='x') | list", "[]"},
      {"false | map('upper') | list", "[]"},
      {"0 | select | list", "[]"},
      {"'' | select('odd') | list", "[]"},
      {"none | reject | list", "[]"},
      {"zz | selectattr('x') | list", "[]"},
      {"none | selectattr('x', 'equalto', 1) | list", "[]"},
      {"none | rejectattr('x') | list", "[]"},
      {"{} | map('upper') | list", "[]"},
      {"none | map | list", "[]"},
      {"none | map('nosuch') | list", "[]"},
      {"none | selectattr | list", "[]"},
      {"none | select('nosuch') | list", "[]"},
      {"[none, 0, ''] | map('string') | list", "['None', '0', '']"},
      {"[none, 1, 0] | select | list", "[1]"},
      {"[{'a': none}, {'a': 0}, {}] | selectattr('a') | list", "[]"},
      {"[{'a': none}, {'a': 0}, {}] | selectattr('a', 'none') | list", "[{'a': None}]"},
      {"[{'a': none}, {}] | rejectattr('a', 'defined') | list", "[{}]"},
      {"[none, 1] | reject('none') | list", "[1]"},
      {"[none, none, 1] | unique | list", "[None, 1]"},
      {"[1, 1.0, true, 1.5, 'x', 0, false, -0.0] | unique | list", "[1, 1.5, 'x', 0]"},
      {"[9007199254740993, 9007199254740992.0, 9007199254740992] | unique | list",
       "[9007199254740993, 9007199254740992.0]"},
      {"[9223372036854775807, 9223372036854775808.0, -9223372036854775808.0, 1e300] | unique | "
       "list",
       "[9223372036854775807, 9.223372036854776e+18, -9.223372036854776e+18, 1e+300]"},
      {"['nan' | float, 'nan' | float, 1] | unique | list", "[nan, nan, 1]"},
      {"[none, ''] | join('-')", "None-"},
      {"zz | list", "[]"},
      {"zz | length", "0"},
      {"zz | join(',')", ""},
      {"zz | sort", "[]"},
      {"zz | sum", "0"},
      {"zz | first", ""},
      {"zz | unique | list", "[]"},
      {"zz | reverse | list", "[]"},
      {"zz | items | list", "[]"},
      {"none | tojson", "null"},
      {"none | string", "None"},
      {"none | default('D')", "None"},
      {"none | default('D', true)", "D"},
      {"none | upper", "NONE"},
      {"none | trim", "None"},
      {"none | int", "0"},
      {"none | float", "0.0"},
  });
  for (const char* expression : {"zz | tojson",
                                 "none | length",
                                 "none | list",
                                 "none | join(',')",
                                 "none | sort",
                                 "none | sum",
                                 "none | first",
                                 "none | last",
                                 "none | min",
                                 "none | unique | list",
                                 "none | reverse | list",
                                 "none | groupby('a')",
                                 "none | batch(2) | list",
                                 "none | slice(2) | list",
                                 "none | items | list",
                                 "none | dictsort",
                                 "none | abs",
                                 "none | round",
                                 "none | indent",
                                 "3 | map('string') | list",
                                 "3 | select | list",
                                 "true | reject | list",
                                 "3 | selectattr('a') | list"}) {
    EXPECT_TRUE(value_of(expression).starts_with("error: ")) << expression;
  }
}

TEST(JinjaFilters, PassIntegersBeyond64BitsThrough) {
  expect_values({
      {"18446744073709551615", "18446744073709551615"},
      {"[-9223372036854775809, 18446744073709551616]",
       "[-9223372036854775809, 18446744073709551616]"},
      {"{18446744073709551615: 1} | tojson", "{\"18446744073709551615\": 1}"},
      {"18446744073709551615 | string", "18446744073709551615"},
      {"18446744073709551615 is integer", "True"},
      {"18446744073709551615 is number", "True"},
      {"18446744073709551615 is float", "False"},
      {"18446744073709551615 is string", "False"},
      {"18446744073709551615 == 18446744073709551615", "True"},
      {"18446744073709551615 == 18446744073709551616", "False"},
      {"9223372036854775808 == 9223372036854775807", "False"},
      {"18446744073709551615 == 18446744073709551616.0", "False"},
      {"18446744073709551616 == 18446744073709551616.0", "True"},
      {"18446744073709551615 > 9223372036854775807", "True"},
      {"18446744073709551615 < 100000000000000000000", "True"},
      {"18446744073709551615 < 1e30", "True"},
      {"18446744073709551615 > 2.5", "True"},
      {"[18446744073709551616, 5, 18446744073709551615, 1e19] | sort",
       "[5, 1e+19, 18446744073709551615, 18446744073709551616]"},
      {"[18446744073709551615, 18446744073709551615, 1] | unique | list",
       "[18446744073709551615, 1]"},
      {"18446744073709551615 in [1, 18446744073709551615]", "True"},
      {"{18446744073709551615: 'x'}[18446744073709551615]", "x"},
      {"18446744073709551615 | int", "18446744073709551615"},
      {"'18446744073709551615' | int", "18446744073709551615"},
      {"' -00018446744073709551616 ' | int", "-18446744073709551616"},
      {"'0000000000000000000000012' | int", "12"},
      {"1e20 | int", "100000000000000000000"},
      {"-1e20 | int", "-100000000000000000000"},
      {"18446744073709551615 | float", "1.8446744073709552e+19"},
      {"18446744073709551615 | abs", "18446744073709551615"},
      {"18446744073709551615 | round", "18446744073709551615"},
      {"'%d' % 18446744073709551615", "18446744073709551615"},
      {"'%25d|' % 18446744073709551615", "     18446744073709551615|"},
      {"'{:,}'.format(18446744073709551615)", "18,446,744,073,709,551,615"},
      {"'{:+d}'.format(18446744073709551615)", "+18446744073709551615"},
      {"18446744073709551615 if 18446744073709551615 else 0", "18446744073709551615"},
      {"+18446744073709551615", "18446744073709551615"},
      {"1_000_000_000_000_000_000_000", "1000000000000000000000"},
  });
  EXPECT_EQ(value_of("-(-9223372036854775809)"), "9223372036854775809");
  EXPECT_EQ(value_of("-9223372036854775808 - 0"), "-9223372036854775808");
  for (const char* expression : {"18446744073709551615 + 1", "2 * 18446744073709551615",
                                 "18446744073709551615 % 2", "18446744073709551615 is odd",
                                 "[18446744073709551615] | sum", "18446744073709551615 / 2.0"}) {
    EXPECT_EQ(value_of(expression),
              "error: line 1: Templates can print and compare 18446744073709551615, but not reckon "
              "with it: it is beyond 64 bits.")
        << expression;
  }
  EXPECT_EQ(value_of("range(18446744073709551615)"),
            "error: line 1: 'range' is 18446744073709551615, which is beyond 64 bits.");
  EXPECT_EQ(value_of("'%x' % 18446744073709551615"),
            "error: line 1: 18446744073709551615 is beyond 64 bits, which only 'd' formats.");
}

TEST(JinjaFilters, Choose) {
  EXPECT_EQ(value_of("people | map(attribute='name') | list"), "['bob', 'Al', 'cy']");
  EXPECT_EQ(value_of("people | map(attribute='zz', default='q') | join(',')"), "q,q,q");
  EXPECT_EQ(value_of("l | map('string') | list"), "['3', '1', '2']");
  EXPECT_EQ(value_of("l | select('odd') | list"), "[3, 1]");
  EXPECT_EQ(value_of("l | reject('odd') | list"), "[2]");
  EXPECT_EQ(value_of("[0, 1, '', none] | select | list"), "[1]");
  EXPECT_EQ(value_of("l | select('gt', 1) | list"), "[3, 2]");
  EXPECT_EQ(value_of("people | selectattr('age', 'equalto', 3) | map(attribute='name') | join"),
            "bobAl");
  EXPECT_EQ(value_of("people | rejectattr('zz', 'defined') | list | length"), "3");
  EXPECT_EQ(value_of("d | attr('zz') is defined"), "False");
}

TEST(JinjaFilters, Group) {
  EXPECT_EQ(value_of("l | batch(2) | list"), "[[3, 1], [2]]");
  EXPECT_EQ(value_of("l | batch(2, 'x') | list"), "[[3, 1], [2, 'x']]");
  EXPECT_EQ(value_of("l | slice(2) | list"), "[[3, 1], [2]]");
  EXPECT_EQ(value_of("l | slice(2, 'x') | list"), "[[3, 1], [2, 'x']]");
  EXPECT_EQ(value_of("d | items | list"), "[('b', 1), ('a', 'x'), ('items', [1])]");
  EXPECT_EQ(value_of("s | list | length"), "11");
}

}  // namespace
}  // namespace tokamak::jinja
