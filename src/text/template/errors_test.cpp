// The errors of wrong templates.
#include "text/template/test_render.h"

namespace tokamak::jinja {
namespace {

TEST(JinjaErrors, SyntaxMistakesSayWhatIsFoundAndExpected) {
  EXPECT_EQ(rendered("{{ n"), "error: line 1: The template ends inside a tag; \"}}\" is missing.");
  EXPECT_EQ(rendered("{{ n %}"), "error: line 1: Unexpected \"}\".");
  EXPECT_EQ(rendered("{% if n ~ %}"),
            "error: line 1: Found \"%}\" where an expression is expected.");
  EXPECT_EQ(rendered("{{ (1] }}"), "error: line 1: Unexpected \"]\" where \")\" is expected.");
  EXPECT_EQ(rendered("{{ ) }}"), "error: line 1: Unexpected \")\".");
  EXPECT_EQ(rendered("{{ 'a }}"), "error: line 1: The string literal has no end.");
  EXPECT_EQ(rendered("{{ 1 @ 2 }}"), "error: line 1: Unexpected character \"@\".");
  EXPECT_EQ(rendered("{{ }}"), "error: line 1: Found \"}}\" where an expression is expected.");
  EXPECT_EQ(rendered("{{ a b }}"), "error: line 1: Found \"b\" where \"}}\" is expected.");
  EXPECT_EQ(rendered("{{ l[1:2:3:4] }}"), "error: line 1: Found \"4\" where \"]\" is expected.");
  EXPECT_EQ(rendered("a\n{# b"), "error: line 2: The comment has no end.");
  EXPECT_EQ(rendered("a\n{% raw %}\nb"), "error: line 2: The raw block has no end.");
  EXPECT_EQ(rendered("{{ '\\xZZ' }}"),
            "error: line 1: The escape \"\\x\" needs 2 hexadecimal digits.");
  EXPECT_EQ(rendered("{{ '\\ud800' }}"),
            "error: line 1: The escape of code point 0xd800 is not a character.");
  EXPECT_EQ(rendered("{{ f(a=1, 2) }}"),
            "error: line 1: A positional argument follows a named one.");
  EXPECT_EQ(rendered("{{ n is defined is true }}"),
            "error: line 1: Tests with \"is\" cannot be chained.");
}

TEST(JinjaErrors, StatementMistakesSayWhatIsMissing) {
  EXPECT_EQ(rendered("a\n{% if n %}\nb"),
            "error: line 3: The template ends where \"{% endif %}\" is expected.");
  EXPECT_EQ(rendered("{% endif %}"), "error: line 1: The statement \"endif\" is not known here.");
  EXPECT_EQ(rendered("{% if n %}{% endfor %}"),
            "error: line 1: The statement \"endfor\" is not known here.");
  EXPECT_EQ(rendered("{% nosuch %}"), "error: line 1: The statement \"nosuch\" is not known here.");
  EXPECT_EQ(rendered("{% include 'x' %}"),
            "error: line 1: The statement \"include\" is not supported in chat templates.");
  EXPECT_EQ(rendered("{% break %}"),
            "error: line 1: The statement \"break\" stands outside of a loop.");
  EXPECT_EQ(rendered("{% for i in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}"),
            "error: line 1: The statement \"break\" stands outside of a loop.");
  EXPECT_EQ(rendered("{% set true = 1 %}"), "error: line 1: \"true\" cannot be assigned to.");
  EXPECT_EQ(rendered("{% macro m(a=1, b) %}{% endmacro %}"),
            "error: line 1: The parameter \"b\" needs a default, as the one before it has one.");
  EXPECT_EQ(rendered("{% call n %}{% endcall %}"),
            "error: line 1: Found \"%}\" where a call of a macro is expected.");
}

TEST(JinjaErrors, UndefinedValuesSayWhatIsMissing) {
  EXPECT_EQ(value_of("x.y"), "error: line 1: 'x' is undefined");
  EXPECT_EQ(value_of("x + 1"), "error: line 1: 'x' is undefined");
  EXPECT_EQ(value_of("x()"), "error: line 1: 'x' is undefined");
  EXPECT_EQ(value_of("d.zz.y"), "error: line 1: 'dict object' has no attribute 'zz'");
  EXPECT_EQ(value_of("l[10].y"), "error: line 1: list object has no element 10");
  EXPECT_EQ(value_of("([] | first).y"), "error: line 1: No first item, sequence was empty.");
  EXPECT_EQ(rendered("{% macro m(a) %}{{ a.b }}{% endmacro %}{{ m() }}"),
            "error: line 1: parameter 'a' was not provided");
}

TEST(JinjaErrors, WrongTypesAreNamed) {
  EXPECT_EQ(rendered("{{ [1,\n none + 1] }}"),
            "error: line 2: unsupported operand type(s) for +: 'NoneType' and 'int'");
  EXPECT_EQ(value_of("'a' + 1"), "error: line 1: can only concatenate str (not \"int\") to str");
  EXPECT_EQ(value_of("1 + 'a'"),
            "error: line 1: unsupported operand type(s) for +: 'int' and 'str'");
  EXPECT_EQ(value_of("1 < 'a'"),
            "error: line 1: '<' not supported between instances of 'int' and 'str'");
  EXPECT_EQ(value_of("1 in 'abc'"),
            "error: line 1: 'in <string>' requires string as left operand, not int");
  EXPECT_EQ(value_of("1 in 5"), "error: line 1: argument of type 'int' is not iterable");
  EXPECT_EQ(value_of("-s"), "error: line 1: bad operand type for unary -: 'str'");
  EXPECT_EQ(value_of("s()"), "error: line 1: 'str' object is not callable");
  EXPECT_EQ(value_of("1 // 0"), "error: line 1: integer division or modulo by zero");
  EXPECT_EQ(value_of("n | length"), "error: line 1: object of type 'int' has no len()");
  EXPECT_EQ(value_of("[x] | tojson"),
            "error: line 1: Object of type Undefined is not JSON serializable.");
  EXPECT_EQ(value_of("[[1]] | unique"), "error: line 1: unhashable type: 'list'");
  EXPECT_EQ(value_of("s.split('')"), "error: line 1: empty separator");
  EXPECT_EQ(value_of("s.index('q')"), "error: line 1: substring not found");
  EXPECT_EQ(value_of("l[::0]"), "error: line 1: slice step cannot be zero");
  EXPECT_EQ(value_of("none[1:]"), "error: line 1: 'NoneType' object cannot be sliced");
  EXPECT_EQ(value_of("d[1:]"), "error: line 1: 'dict' object cannot be sliced");
  EXPECT_EQ(rendered("{% for i in n %}{% endfor %}"),
            "error: line 1: 'int' object is not iterable.");
  EXPECT_EQ(rendered("{% for a, b in [(1, 2, 3)] %}{% endfor %}"),
            "error: line 1: too many values to unpack (expected 2, got 3)");
  EXPECT_EQ(rendered("{% set d.x = 1 %}"),
            "error: line 1: cannot assign attribute on non-namespace object");
  EXPECT_EQ(rendered("{% for i in l %}{{ loop([1]) }}{% endfor %}"),
            "error: line 1: The loop is called, but its \"for\" is not marked as recursive.");
}

TEST(JinjaErrors, TemplatesCannotChangeTheirVariables) {
  EXPECT_EQ(value_of("l.append(4)"),
            "error: line 1: A template cannot change a list; this method is not allowed.");
  EXPECT_EQ(value_of("d.update({})"),
            "error: line 1: A template cannot change a dict; this method is not allowed.");
}

TEST(JinjaErrors, UnknownNamesAndWrongArgumentsAreNamed) {
  EXPECT_EQ(value_of("n | nosuch"), "error: line 1: No filter is named 'nosuch'.");
  EXPECT_EQ(value_of("n is nosuch"), "error: line 1: No test is named 'nosuch'.");
  EXPECT_EQ(value_of("s | trim('a', 'b')"),
            "error: line 1: trim() takes at most 1 arguments but 2 are given.");
  EXPECT_EQ(value_of("s | trim(q=1)"), "error: line 1: trim() has no parameter named 'q'.");
  EXPECT_EQ(value_of("s | replace('a')"), "error: line 1: replace() needs a value for 'new'.");
  EXPECT_EQ(value_of("s.replace('a', old='b')"),
            "error: line 1: replace() is given the parameter 'old' twice.");
  EXPECT_EQ(value_of("s.split(1)"), "error: line 1: 'sep' is of type int where str is expected.");
  EXPECT_EQ(rendered("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}"),
            "error: line 1: macro 'm' takes not more than 1 argument(s)");
  EXPECT_EQ(rendered("{% macro m(a) %}{% endmacro %}{{ m(b=2) }}"),
            "error: line 1: macro 'm' takes no keyword argument 'b'");
  EXPECT_EQ(rendered("{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}"),
            "error: line 1: macro 'm' is given the argument 'a' twice");
  EXPECT_EQ(rendered("{% macro m() %}{% endmacro %}{% call m() %}{% endcall %}"),
            "error: line 1: macro 'm' takes no keyword argument 'caller'");
}

TEST(JinjaErrors, FormatsAreChecked) {
  EXPECT_EQ(value_of("'%s %s' % (1,)"), "error: line 1: not enough arguments for format string");
  EXPECT_EQ(value_of("'%s' % (1, 2)"),
            "error: line 1: not all arguments converted during string formatting");
  EXPECT_EQ(value_of("'%d' % 'x'"),
            "error: line 1: unknown format code 'd' for object of type 'str'");
  EXPECT_EQ(value_of("'%(a)s' % 1"), "error: line 1: format requires a mapping");
  EXPECT_EQ(value_of("'%q' % 1"), "error: line 1: unsupported format character at index 1");
  EXPECT_EQ(value_of("'%' % 1"), "error: line 1: incomplete format");
  EXPECT_EQ(value_of("'{'.format()"), "error: line 1: expected '}' before end of string");
  EXPECT_EQ(value_of("'}'.format()"), "error: line 1: Single '}' encountered in format string");
  EXPECT_EQ(value_of("'{}'.format()"),
            "error: line 1: Replacement index 0 out of range for positional args tuple");
  EXPECT_EQ(value_of("'{:5q1}'.format(1)"), "error: line 1: Invalid format specifier '5q1'");
  EXPECT_EQ(value_of("'{:.2d}'.format(1)"),
            "error: line 1: Precision not allowed in integer format specifier");
  EXPECT_EQ(value_of("'{:,x}'.format(1)"), "error: line 1: Cannot specify ',' with 'x'.");
}

}  // namespace
}  // namespace tokamak::jinja
