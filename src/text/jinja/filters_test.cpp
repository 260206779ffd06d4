// Filters. Every expected text is what jinja2 3.1 prints.
#include "text/jinja/test_render.h"

namespace tokamak::jinja {
namespace {

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
