// Statements, scopes, macros, whitespace. Every expected text is what jinja2 3.1 prints.
#include "text/template/test_render.h"

namespace tokamak::jinja {
namespace {

TEST(JinjaStatements, Loop) {
  EXPECT_EQ(
      rendered(
          "{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 "
          "}}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }};{% endfor %}"),
      "1032TrueFalse31;2121FalseFalse31;3210FalseTrue31;");
  EXPECT_EQ(rendered("{% for i in l %}{{ loop.previtem is defined }}-{{ loop.nextitem | "
                     "default('z') }};{% endfor %}"),
            "False-1;True-2;True-z;");
  EXPECT_EQ(rendered("{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{% endfor %}"), "TrueFalseTrue");
  EXPECT_EQ(rendered("{% for i in l %}{{ loop.cycle('a', 'b') }}{% endfor %}"), "aba");
  EXPECT_EQ(rendered("{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}"),
            "b=1;a=x;items=[1];");
  EXPECT_EQ(rendered("{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}"),
            "123");
  EXPECT_EQ(rendered("{% for k in d %}{{ k }}{% endfor %}"), "baitems");
  EXPECT_EQ(rendered("{% for c in 'aé' %}{{ c }}.{% endfor %}"), "a.é.");
  EXPECT_EQ(rendered("{% for i in x %}a{% else %}b{% endfor %}"), "b");
  EXPECT_EQ(rendered("{% for i in l if i > 1 %}{{ i }}{{ loop.length }}{% endfor %}"), "3222");
  EXPECT_EQ(rendered("{% for i in l if i > 10 %}{{ i }}{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(rendered("{% for i in l %}{% for j in [1, 2] %}{{ loop.index }}{% endfor %}{{ "
                     "loop.index }}{% endfor %}"),
            "121122123");
  EXPECT_EQ(rendered("{% for i in 1, 2 %}{{ i }}{% endfor %}"), "12");
}

TEST(JinjaStatements, BreakAndContinue) {
  EXPECT_EQ(rendered("{% for i in l %}{% continue %}{% else %}e{% endfor %}"), "e");
  EXPECT_EQ(rendered("{% for i in l %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% endfor %}"),
            "3");
  EXPECT_EQ(rendered("{% for i in l %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}"),
            "32");
  EXPECT_EQ(rendered("{% for i in l %}{{ i }}{% break %}{% else %}never{% endfor %}"), "3never");
  EXPECT_EQ(rendered("{% for i in l %}{% for j in l %}{% if j == 1 %}{% break %}{% endif %}{{ i "
                     "}}{{ j }}{% endfor %};{% endfor %}"),
            "33;13;23;");
}

TEST(JinjaStatements, RecurseThroughLoops) {
  EXPECT_EQ(rendered("{% for i in [[1, [2, [3]]], 4] recursive %}{% if i is iterable %}({{ loop(i) "
                     "}}){% else %}{{ i }}:{{ loop.depth }}{% endif %}{% endfor %}"),
            "(1:2(2:3(3:4)))4:1");
}

TEST(JinjaStatements, KeepNamesInTheirScope) {
  EXPECT_EQ(
      rendered(
          "{% set x = 1 %}{% for i in l %}{{ x }}{% set x = x + 1 %}{{ x }};{% endfor %}{{ x }}"),
      "12;12;12;1");
  EXPECT_EQ(rendered("{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}"), "2");
  EXPECT_EQ(rendered("{% set ns = namespace(x=0) %}{% for i in l %}{% set ns.x = ns.x + i %}{% "
                     "endfor %}{{ ns.x }}"),
            "6");
  EXPECT_EQ(rendered("{% set a, b = 1, 2 %}{{ a }}{{ b }}"), "12");
  EXPECT_EQ(rendered("{% with a=1, b=2 %}{{ a }}{{ b }}{% endwith %}{{ a }}"), "12");
  EXPECT_EQ(rendered("{% set q %}{% set y = 5 %}{% endset %}{{ y }}"), "");
  EXPECT_EQ(rendered("{% set x = 5 %}{% macro m(x) %}{{ x }}{% endmacro %}{{ m(1) }}{{ x }}"),
            "15");
}

TEST(JinjaStatements, CaptureBlocks) {
  EXPECT_EQ(rendered("{% set x %}abc{{ n }}{% endset %}{{ x }}"), "abc7");
  EXPECT_EQ(rendered("{% set x | upper | replace('A', 'z') %}abc{{ n }}{% endset %}{{ x }}"),
            "zBC7");
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% set ns.t %}abc{% endset %}{{ ns.t }}"), "abc");
  EXPECT_EQ(rendered("{% filter replace('a', 'b') | upper %}abc{% endfilter %}"), "BBC");
  EXPECT_EQ(rendered("{% generation %}abc{{ n }}{% endgeneration %}x"), "abc7x");
}

TEST(JinjaStatements, CallMacros) {
  EXPECT_EQ(rendered("{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}{{ "
                     "m(1, 3) }}{{ m(1, c=4) }}{{ m() }}"),
            "1211311242");
  EXPECT_EQ(
      rendered(
          "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, z=4) }}"),
      "1(2, 3){'z': 4}");
  EXPECT_EQ(
      rendered(
          "{% macro m() %}[{{ caller(5) }}]{% endmacro %}{% call(x) m() %}in{{ x }}{% endcall %}"),
      "[in5]");
  EXPECT_EQ(rendered("{% macro m() %}[{{ caller() if caller }}]{% endmacro %}{{ m() }}{% call m() "
                     "%}q{% endcall %}"),
            "[][q]");
  EXPECT_EQ(rendered("{% macro fact(k) %}{% if k > 1 %}{{ k * (fact(k - 1) | int) }}{% else %}1{% "
                     "endif %}{% endmacro %}{{ fact(5) }}"),
            "120");
  EXPECT_EQ(rendered("{% macro m(a, b) %}{{ a }}-{{ b }}{% endmacro %}{{ m(*[1, 2]) }}{{ m(**{'a': "
                     "1, 'b': 2}) }}"),
            "1-21-2");
  EXPECT_EQ(
      rendered(
          "{% set z = 9 %}{% macro m() %}{{ z }}{{ n }}{% endmacro %}{% set z = 10 %}{{ m() }}"),
      "107");
  EXPECT_EQ(rendered("{% for i in l %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}"),
            "312");
}

TEST(JinjaStatements, Branch) {
  EXPECT_EQ(rendered("{% if x %}a{% elif n == 7 %}b{% else %}c{% endif %}"), "b");
  EXPECT_EQ(rendered("{% if x %}a{% elif e %}b{% else %}c{% endif %}"), "c");
}

TEST(JinjaStatements, ControlWhitespace) {
  EXPECT_EQ(rendered("{{ n }}  {% if n %}x{% endif %}"), "7  x");
  EXPECT_EQ(rendered("a\n{% if n %}\nx\n{% endif %}\nb"), "a\nx\nb");
  EXPECT_EQ(rendered("a\n  {% if n %}\nx\n  {%- endif %}\nb\n"), "a\nxb");
  EXPECT_EQ(rendered("a {%- if n %} x {%- endif -%} b"), "a xb");
  EXPECT_EQ(rendered("  {%+ if n %}x{% endif +%}\nb"), "  x\nb");
  EXPECT_EQ(rendered("  {{ n }}\n  {{- n -}}\n  x"), "  77x");
  EXPECT_EQ(rendered("a {# c #} b\n  {# d #}\ne {#- f -#} g"), "a  b\neg");
  EXPECT_EQ(rendered("a\r\nb{% if n %}\r\nc{% endif %}\r\n"), "a\nbc");
  EXPECT_EQ(rendered("    {% for i in l -%}\n    {{ i }}\n    {%- endfor %}\ndone\n"), "312done");
}

TEST(JinjaStatements, KeepRawBlocks) {
  EXPECT_EQ(rendered("{% raw %} {{ x }} {% y %} {% endraw %}z"), " {{ x }} {% y %} z");
  EXPECT_EQ(rendered("a\n  {% raw %}\n {{ x }}\n  {% endraw %}\nz"), "a\n\n {{ x }}\nz");
  EXPECT_EQ(rendered("a {%- raw -%} x {%- endraw -%} z"), "axz");
}

TEST(JinjaStatements, CallFunctions) {
  EXPECT_EQ(rendered("{{ range(5, 0, -2) | list }}{{ range(0) | list }}"), "[5, 3, 1][]");
  EXPECT_EQ(rendered("{{ dict(a=1, b=2) }}{{ dict(d, z=1).z }}"), "{'a': 1, 'b': 2}1");
  EXPECT_EQ(rendered("{% set c = joiner(', ') %}{% for i in l %}{{ c() }}{{ i }}{% endfor %}"),
            "3, 1, 2");
}

TEST(JinjaStatements, Cycle) {
  EXPECT_EQ(rendered("{% set c = cycler('a', 'b') %}{% for i in l %}{{ c.next() }}{% endfor %}"
                     "|{{ c.current }}{{ c.reset() }}{{ c.current }}{{ c.pos }}{{ c.items }}"),
            "aba|bNonea0('a', 'b')");
  EXPECT_EQ(rendered("{% set c = cycler('a', 'b') %}{% set c.pos = 'x' %}{% set c.items = 1 %}"
                     "{{ c.next() }}{{ c.next() }}{{ c.pos }}"),
            "ab0");
  EXPECT_EQ(value_of("cycler()"), "error: line 1: cycler expects at least one item.");
}

TEST(JinjaStatements, WalkGeneratorsOnce) {
  EXPECT_EQ(rendered("{% set g = l | map('string') %}{{ g | list }}{{ g | list }}"),
            "['3', '1', '2'][]");
}

}  // namespace
}  // namespace tokamak::jinja
