// Operators, printing, attributes and slices. Every expected text is what jinja2 3.1 prints.
#include "text/template/test_render.h"

namespace tokamak::jinja {
namespace {

TEST(JinjaOperators, DoArithmeticAsPython) {
  EXPECT_EQ(value_of("1 + 2 * 3 - 4 // 3 % 2"), "6");
  EXPECT_EQ(value_of("7 // -2"), "-4");
  EXPECT_EQ(value_of("-7 // 2"), "-4");
  EXPECT_EQ(value_of("7 % -3"), "-2");
  EXPECT_EQ(value_of("-7 % 3"), "2");
  EXPECT_EQ(value_of("-7.5 % 2"), "0.5");
  EXPECT_EQ(value_of("7.5 // 2"), "3.0");
  EXPECT_EQ(value_of("2 ** 10"), "1024");
  EXPECT_EQ(value_of("2 ** -1"), "0.5");
  EXPECT_EQ(value_of("2 ** 3 ** 2"), "64");
  EXPECT_EQ(value_of("-2 ** 2"), "4");
  EXPECT_EQ(value_of("4 / 2"), "2.0");
  EXPECT_EQ(value_of("true + true"), "2");
  EXPECT_EQ(value_of("0x1F + 0b101 + 0o17 + 1_000"), "1051");
  EXPECT_EQ(value_of("0.1 + 0.2"), "0.30000000000000004");
  EXPECT_EQ(value_of("+n"), "7");
  EXPECT_EQ(value_of("-n | abs"), "7");
}

TEST(JinjaOperators, PrintNumbersAsPython) {
  EXPECT_EQ(value_of("1e16"), "1e+16");
  EXPECT_EQ(value_of("1e15"), "1000000000000000.0");
  EXPECT_EQ(value_of("123456789012345678.0"), "1.2345678901234568e+17");
  EXPECT_EQ(value_of("1e-5"), "1e-05");
  EXPECT_EQ(value_of("0.0001"), "0.0001");
  EXPECT_EQ(value_of("1.0"), "1.0");
  EXPECT_EQ(value_of("100"), "100");
  EXPECT_EQ(value_of("1 / 3"), "0.3333333333333333");
}

TEST(JinjaOperators, PrintContainersAsPython) {
  EXPECT_EQ(value_of("['it\\'s \"q\"']"), "['it\\'s \"q\"']");
  EXPECT_EQ(value_of("[1, 'a', none, true, 1.0, {'k': (1,)}]"),
            "[1, 'a', None, True, 1.0, {'k': (1,)}]");
  EXPECT_EQ(value_of("{1: 2, none: 3}"), "{1: 2, None: 3}");
  EXPECT_EQ(value_of("()"), "()");
  EXPECT_EQ(value_of("(1,)"), "(1,)");
  EXPECT_EQ(value_of("d"), "{'b': 1, 'a': 'x', 'items': [1]}");
  EXPECT_EQ(value_of("\"it's\" | list"), "['i', 't', \"'\", 's']");
  EXPECT_EQ(value_of("['it\\'s', 'q\"q', '\\n\\t\\\\\\x00\\x7f', 'é😀\\u200b']"),
            "[\"it's\", 'q\"q', '\\n\\t\\\\\\x00\\x7f', 'é😀\\u200b']");
  EXPECT_EQ(value_of("range(3)"), "range(0, 3)");
  EXPECT_EQ(value_of("range(1, 10, 3)"), "range(1, 10, 3)");
  EXPECT_EQ(value_of("d.items()"), "dict_items([('b', 1), ('a', 'x'), ('items', [1])])");
  EXPECT_EQ(value_of("d.keys()"), "dict_keys(['b', 'a', 'items'])");
  EXPECT_EQ(value_of("d.values()"), "dict_values([1, 'x', [1]])");
  EXPECT_EQ(value_of("namespace(a=1)"), "<Namespace {'a': 1}>");
}

TEST(JinjaOperators, Concatenate) {
  EXPECT_EQ(value_of("'a' 'b'"), "ab");
  EXPECT_EQ(value_of("'a' ~ 1 ~ none ~ true ~ 1.0"), "a1NoneTrue1.0");
  EXPECT_EQ(value_of("[1] + [2]"), "[1, 2]");
  EXPECT_EQ(value_of("(1,) + (2,)"), "(1, 2)");
  EXPECT_EQ(value_of("'ab' * 3"), "ababab");
  EXPECT_EQ(value_of("3 * 'ab'"), "ababab");
  EXPECT_EQ(value_of("[1] * 2"), "[1, 1]");
  EXPECT_EQ(value_of("'ab' * -1"), "");
}

TEST(JinjaOperators, Compare) {
  EXPECT_EQ(value_of("1 == 1.0"), "True");
  EXPECT_EQ(value_of("'1' == 1"), "False");
  EXPECT_EQ(value_of("[1, 2] == [1, 2.0]"), "True");
  EXPECT_EQ(value_of("{'a': 1} == {'a': 1.0}"), "True");
  EXPECT_EQ(value_of("1 < 2 < 3"), "True");
  EXPECT_EQ(value_of("1 < 3 < 2"), "False");
  EXPECT_EQ(value_of("[1, 2] < [1, 3]"), "True");
  EXPECT_EQ(value_of("'a' < 'B'"), "False");
  EXPECT_EQ(value_of("1 in [1, 2]"), "True");
  EXPECT_EQ(value_of("'a' in 'abc'"), "True");
  EXPECT_EQ(value_of("'a' in d"), "True");
  EXPECT_EQ(value_of("'z' not in d"), "True");
  EXPECT_EQ(value_of("x == y"), "True");
  EXPECT_EQ(value_of("x == ''"), "False");
  EXPECT_EQ(value_of("1 != 2 != 1"), "True");
}

TEST(JinjaOperators, ShortCircuit) {
  EXPECT_EQ(value_of("x or 'dflt'"), "dflt");
  EXPECT_EQ(value_of("e or none"), "None");
  EXPECT_EQ(value_of("n and s"), "hello world");
  EXPECT_EQ(value_of("0 and 1"), "0");
  EXPECT_EQ(value_of("not n == 7"), "False");
  EXPECT_EQ(value_of("not x"), "True");
  EXPECT_EQ(value_of("'a' if e else 'b' if s else 'c'"), "b");
  EXPECT_EQ(value_of("('yes' if false) ~ '|'"), "|");
  EXPECT_EQ(value_of("'a' if x is defined and x.y.z else 'b'"), "b");
}

TEST(JinjaOperators, FindAttributesBeforeKeysAndKeysBeforeAttributes) {
  EXPECT_EQ(value_of("[[1, [2, 3]]].0.1.1"), "3");
  EXPECT_EQ(value_of("d.a"), "x");
  EXPECT_EQ(value_of("d['a']"), "x");
  EXPECT_EQ(value_of("d['items']"), "[1]");
  EXPECT_EQ(value_of("d.items() | list"), "[('b', 1), ('a', 'x'), ('items', [1])]");
  EXPECT_EQ(value_of("d.zzz is defined"), "False");
  EXPECT_EQ(value_of("d.get('a')"), "x");
  EXPECT_EQ(value_of("d.get('q')"), "None");
  EXPECT_EQ(value_of("d.get('q', 5)"), "5");
  EXPECT_EQ(value_of("l.0"), "3");
  EXPECT_EQ(value_of("l[-1]"), "2");
  EXPECT_EQ(value_of("l[10]"), "");
  EXPECT_EQ(value_of("l['a']"), "");
  EXPECT_EQ(value_of("namespace(a=1).a"), "1");
  EXPECT_EQ(value_of("d.copy()"), "{'b': 1, 'a': 'x', 'items': [1]}");
}

TEST(JinjaOperators, Slice) {
  EXPECT_EQ(value_of("l[1:]"), "[1, 2]");
  EXPECT_EQ(value_of("l[:-1]"), "[3, 1]");
  EXPECT_EQ(value_of("l[::-1]"), "[2, 1, 3]");
  EXPECT_EQ(value_of("l[::2]"), "[3, 2]");
  EXPECT_EQ(value_of("l[5:1]"), "[]");
  EXPECT_EQ(value_of("l[none:2]"), "[3, 1]");
  EXPECT_EQ(value_of("s[0]"), "h");
  EXPECT_EQ(value_of("s[-1]"), "d");
  EXPECT_EQ(value_of("s[1:4]"), "ell");
  EXPECT_EQ(value_of("s[::-1]"), "dlrow olleh");
  EXPECT_EQ(value_of("s[100]"), "");
  EXPECT_EQ(value_of("u[0:5]"), "Grüße");
  EXPECT_EQ(value_of("u[-1]"), "😀");
  EXPECT_EQ(value_of("u[2]"), "ü");
  EXPECT_EQ(value_of("(1, 2, 3)[1:]"), "(2, 3)");
}

TEST(JinjaOperators, TreatUndefinedAsTheReference) {
  EXPECT_EQ(value_of("x"), "");
  EXPECT_EQ(value_of("x ~ '|'"), "|");
  EXPECT_EQ(value_of("x | length"), "0");
  EXPECT_EQ(value_of("'x' in x"), "False");
  EXPECT_EQ(value_of("x is iterable"), "True");
  EXPECT_EQ(value_of("x | default('q')"), "q");
  EXPECT_EQ(value_of("d.zz | default('q')"), "q");
  EXPECT_EQ(value_of("e | default('q', true)"), "q");
  EXPECT_EQ(value_of("none | default('q')"), "None");
  EXPECT_EQ(value_of("[x]"), "[Undefined]");
}

TEST(JinjaOperators, ReadStringEscapes) {
  EXPECT_EQ(value_of("'\\u00e9\\x41\\n\\t\\\\'"), "éA\n\t\\");
  EXPECT_EQ(value_of("'\\q'"), "\\q");
  EXPECT_EQ(value_of("'it\\'s'"), "it's");
  EXPECT_EQ(value_of("'\\101'"), "A");
  EXPECT_EQ(value_of("'A\\U0001F600B'"), "A😀B");
  EXPECT_EQ(value_of("'}}' ~ '%}'"), "}}%}");
}

}  // namespace
}  // namespace tokamak::jinja
