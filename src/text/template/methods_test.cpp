// Methods of texts, lists and dicts. Every expected text is what jinja2 3.1 prints.
#include "text/template/test_render.h"

namespace tokamak::jinja {
namespace {

TEST(JinjaMethods, ChangeCase) {
  EXPECT_EQ(value_of("u.upper()"), "GRÜSSE 😀");
  EXPECT_EQ(value_of("s.title()"), "Hello World");
  EXPECT_EQ(value_of("s.capitalize()"), "Hello world");
  EXPECT_EQ(value_of("\"a-b c'd\".title()"), "A-B C'D");
  EXPECT_EQ(value_of("'aB'.swapcase()"), "Ab");
  EXPECT_EQ(value_of("'ABC'.lower()"), "abc");
}

TEST(JinjaMethods, ChangeCaseBeyondAscii) {
  EXPECT_EQ(value_of("'ΑΣ Σ ΣΑ ΑΣ.'.lower()"), "ας σ σα ας.");
  EXPECT_EQ(value_of("'Α\u0308Σ A:Σ A AΣ:B'.lower()"), "α\u0308ς a:ς a aσ:b");
  EXPECT_EQ(value_of("'ΑΒΣ ΒΣ'.title()"), "Αβς Βς");
  EXPECT_EQ(value_of("'ΑΒΣ ΒΣ' | title"), "Αβς Βσ");
  EXPECT_EQ(value_of("'ΑΒΣ.ΒΣ'.swapcase()"), "αβσ.βς");
  EXPECT_EQ(value_of("'αΣ'.capitalize() ~ 'Σα'.capitalize() ~ 'İΑΣ'.capitalize()"), "ΑςΣαİας");
  EXPECT_EQ(value_of("'İ'.lower() | length"), "2");
  EXPECT_EQ(value_of("'ß'.casefold() ~ 'ΑΣς'.casefold() ~ 'ﬁ'.casefold()"), "ssασσfi");
}

TEST(JinjaMethods, Strip) {
  EXPECT_EQ(value_of("'  x '.strip() ~ '|'"), "x|");
  EXPECT_EQ(value_of("'  x '.lstrip() ~ '|'"), "x |");
  EXPECT_EQ(value_of("'  x '.rstrip() ~ '|'"), "  x|");
  EXPECT_EQ(value_of("s.strip('hd')"), "ello worl");
  EXPECT_EQ(value_of("'xxaxx'.rstrip('x')"), "xxa");
  EXPECT_EQ(value_of("'\\n\\nx\\n'.strip('\\n')"), "x");
  EXPECT_EQ(value_of("s.removeprefix('he')"), "llo world");
  EXPECT_EQ(value_of("s.removesuffix('ld')"), "hello wor");
}

TEST(JinjaMethods, Split) {
  EXPECT_EQ(value_of("s.split()"), "['hello', 'world']");
  EXPECT_EQ(value_of("s.split('o')"), "['hell', ' w', 'rld']");
  EXPECT_EQ(value_of("s.split('o', 1)"), "['hell', ' world']");
  EXPECT_EQ(value_of("s.rsplit('o', 1)"), "['hello w', 'rld']");
  EXPECT_EQ(value_of("' a  b c '.split(none, 1)"), "['a', 'b c ']");
  EXPECT_EQ(value_of("' a  b c '.rsplit(none, 1)"), "[' a  b', 'c']");
  EXPECT_EQ(value_of("'a,b,,c'.split(',')"), "['a', 'b', '', 'c']");
  EXPECT_EQ(value_of("''.split()"), "[]");
  EXPECT_EQ(value_of("''.split(',')"), "['']");
  EXPECT_EQ(value_of("s.partition(' ')"), "('hello', ' ', 'world')");
  EXPECT_EQ(value_of("s.rpartition('o')"), "('hello w', 'o', 'rld')");
  EXPECT_EQ(value_of("s.partition('zz')"), "('hello world', '', '')");
  EXPECT_EQ(value_of("'a\\nb\\r\\nc'.splitlines()"), "['a', 'b', 'c']");
  EXPECT_EQ(value_of("'a\\nb\\n'.splitlines(true)"), "['a\\n', 'b\\n']");
}

TEST(JinjaMethods, Search) {
  EXPECT_EQ(value_of("s.startswith('he')"), "True");
  EXPECT_EQ(value_of("s.startswith(('x', 'he'))"), "True");
  EXPECT_EQ(value_of("s.startswith('ell', 1)"), "True");
  EXPECT_EQ(value_of("s.endswith('ld')"), "True");
  EXPECT_EQ(value_of("s.find('o')"), "4");
  EXPECT_EQ(value_of("s.rfind('o')"), "7");
  EXPECT_EQ(value_of("s.find('o', 5)"), "7");
  EXPECT_EQ(value_of("u.find('e')"), "4");
  EXPECT_EQ(value_of("s.find('zz')"), "-1");
  EXPECT_EQ(value_of("s.index('w')"), "6");
  EXPECT_EQ(value_of("s.count('l')"), "3");
  EXPECT_EQ(value_of("s.count('')"), "12");
}

TEST(JinjaMethods, Replace) {
  EXPECT_EQ(value_of("s.replace('l', 'L')"), "heLLo worLd");
  EXPECT_EQ(value_of("s.replace('l', 'L', 1)"), "heLlo world");
  EXPECT_EQ(value_of("s.replace('', '-')"), "-h-e-l-l-o- -w-o-r-l-d-");
}

TEST(JinjaMethods, Pad) {
  EXPECT_EQ(value_of("s.center(20, '*')"), "****hello world*****");
  EXPECT_EQ(value_of("s.ljust(15) ~ '|'"), "hello world    |");
  EXPECT_EQ(value_of("s.rjust(15, '.')"), "....hello world");
  EXPECT_EQ(value_of("'42'.zfill(5)"), "00042");
  EXPECT_EQ(value_of("'-42'.zfill(5)"), "-0042");
  EXPECT_EQ(value_of("'a'.center(4) ~ '|'"), " a  |");
  EXPECT_EQ(value_of("'ab'.center(5) ~ '|'"), "  ab |");
  EXPECT_EQ(value_of("'a\\tb'.expandtabs(4)"), "a   b");
}

TEST(JinjaMethods, Ask) {
  EXPECT_EQ(value_of("'abc'.isalpha()"), "True");
  EXPECT_EQ(value_of("'12'.isdigit()"), "True");
  EXPECT_EQ(value_of("'a1'.isalnum()"), "True");
  EXPECT_EQ(value_of("' '.isspace()"), "True");
  EXPECT_EQ(value_of("'AB'.isupper()"), "True");
  EXPECT_EQ(value_of("'ab'.islower()"), "True");
  EXPECT_EQ(value_of("''.isalpha()"), "False");
  EXPECT_EQ(value_of("f.is_integer()"), "False");
}

TEST(JinjaMethods, DistinguishNumbers) {
  EXPECT_EQ(value_of("['²'.isdigit(), '①'.isdigit(), '½'.isdigit(), 'Ⅷ'.isdigit(), '٣'.isdigit()]"),
            "[True, True, False, False, True]");
  EXPECT_EQ(value_of("['²'.isdecimal(), '٣'.isdecimal(), '½'.isnumeric(), 'Ⅷ'.isnumeric()]"),
            "[False, True, True, True]");
  EXPECT_EQ(value_of("['²a'.isalnum(), '½'.isalnum(), '²'.isalpha()]"), "[True, True, False]");
  EXPECT_EQ(value_of("'a²b²c x_1' | wordcount"), "2");
}

TEST(JinjaMethods, Join) {
  EXPECT_EQ(value_of("','.join(['a', 'b'])"), "a,b");
  EXPECT_EQ(value_of("'a'.join('xyz')"), "xayaz");
}

TEST(JinjaMethods, LookIntoLists) {
  EXPECT_EQ(value_of("l.index(1)"), "1");
  EXPECT_EQ(value_of("l.count(1)"), "1");
}

TEST(JinjaMethods, FormatWithBraces) {
  EXPECT_EQ(value_of("'{} {}'.format(1, 'a')"), "1 a");
  EXPECT_EQ(value_of("'{0} {1} {0}'.format(1, 'a')"), "1 a 1");
  EXPECT_EQ(value_of("'{x} {y!r}'.format(x=1, y='a')"), "1 'a'");
  EXPECT_EQ(
      value_of(
          "'{:>5}|{:<5}|{:^5}|{:05d}|{:.2f}|{:,}'.format('a', 'b', 'c', 42, 3.14159, 1234567)"),
      "    a|b    |  c  |00042|3.14|1,234,567");
  EXPECT_EQ(value_of("'{{}}'.format()"), "{}");
  EXPECT_EQ(value_of("'{:x} {:#x} {:b} {:e} {:%}'.format(255, 255, 5, 1234.5, 0.25)"),
            "ff 0xff 101 1.234500e+03 25.000000%");
  EXPECT_EQ(value_of("'{0[a]}'.format(d)"), "x");
  EXPECT_EQ(value_of("'{:+}'.format(3)"), "+3");
  EXPECT_EQ(value_of("'{:08.2f}'.format(-3.14159)"), "-0003.14");
  EXPECT_EQ(value_of("'{:g}'.format(0.1)"), "0.1");
  EXPECT_EQ(value_of("'{:.3}'.format('abcdef')"), "abc");
}

TEST(JinjaMethods, FormatNumbersWithoutAType) {
  EXPECT_EQ(value_of("'{:.3} {:.1} {:.3} {:.3} {:.20}'.format(2.0, 2.0, 100.0, 99.99, 1e16)"),
            "2.0 2e+00 1e+02 1e+02 10000000000000000.0");
  EXPECT_EQ(value_of("'{:.4} {:.4} {:.4} {:.0} {:.3}'.format(0.0, 1234.0, 1e-5, 2.0, 12345.0)"),
            "0.0 1.234e+03 1e-05 2e+00 1.23e+04");
  EXPECT_EQ(value_of("'{:,.8}'.format(1234567.0)"), "1,234,567.0");
}

TEST(JinjaMethods, SeparateDigits) {
  EXPECT_EQ(value_of("'{:,.0%} {:_.2%}'.format(12345.678, 1234.5)"), "1,234,568% 123_450.00%");
  EXPECT_EQ(value_of("'{:_x} {:_X} {:_b}'.format(1234567, 3203383023, 1000)"),
            "12_d687 BEEF_BEEF 11_1110_1000");
}

TEST(JinjaMethods, FormatWithPercent) {
  EXPECT_EQ(value_of("'%s %d' % (1, 2)"), "1 2");
  EXPECT_EQ(value_of("'%5s|%-5s|' % ('a', 'b')"), "    a|b    |");
  EXPECT_EQ(value_of("'%05.1f' % 3.14159"), "003.1");
  EXPECT_EQ(value_of("'%x %X %o' % (255, 255, 8)"), "ff FF 10");
  EXPECT_EQ(value_of("'%(a)s' % d"), "x");
  EXPECT_EQ(value_of("'%d%%' % 5"), "5%");
  EXPECT_EQ(value_of("'%+d' % 5"), "+5");
  EXPECT_EQ(value_of("'%r' % \"it's\""), "\"it's\"");
  EXPECT_EQ(value_of("'%c' % 65"), "A");
  EXPECT_EQ(value_of("'%e' % 12345.678"), "1.234568e+04");
  EXPECT_EQ(value_of("'%g' % 0.00001"), "1e-05");
  EXPECT_EQ(value_of("'%.3s|' % 'abcdef'"), "abc|");
  EXPECT_EQ(value_of("'%s' % [1, 2]"), "[1, 2]");
}

}  // namespace
}  // namespace tokamak::jinja
