#include "text/tokenizer/oniguruma_sets.h"

#include <algorithm>
#include <span>

#include "base/ascii.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

struct NamedSet {
  std::string_view name;
  std::string_view items;
};

// The names of [:name:], which \p{name} knows, too. Checked against Oniguruma 6.9.8 character by
// character.
constexpr NamedSet kBracketSets[] = {
    {"alnum", "\\p{Alphabetic}\\p{Nd}"},
    {"alpha", "\\p{Alphabetic}"},
    {"ascii", "\\p{ASCII}"},
    {"blank", "\\x{09}\\p{Zs}"},
    {"cntrl", "\\p{Cc}"},
    {"digit", "\\p{Nd}"},
    {"lower", "\\p{Lowercase}"},
    {"punct", "\\p{P}"},
    {"space", "\\p{White_Space}"},
    {"upper", "\\p{Uppercase}"},
    {"word", "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"},
    {"xdigit", "0-9A-Fa-f"},
};

// Long names of general categories, without blanks and in small letters.
constexpr NamedSet kCategories[] = {
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"unassigned", "Cn"},
    {"privateuse", "Co"},
    {"surrogate", "Cs"},
    {"letter", "L"},
    {"casedletter", "L&"},
    {"lc", "L&"},
    {"lowercaseletter", "Ll"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"titlecaseletter", "Lt"},
    {"uppercaseletter", "Lu"},
    {"mark", "M"},
    {"combiningmark", "M"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"nonspacingmark", "Mn"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"closepunctuation", "Pe"},
    {"finalpunctuation", "Pf"},
    {"initialpunctuation", "Pi"},
    {"otherpunctuation", "Po"},
    {"openpunctuation", "Ps"},
    {"symbol", "S"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"mathsymbol", "Sm"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"spaceseparator", "Zs"},
};

// Names that PCRE2 gives a meaning of its own.
constexpr std::string_view kForeign[] = {"l&", "xan", "xps", "xsp", "xuc", "xwd"};

std::string normalized_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    out += ascii_lower(c);
  }
  return out;
}

const NamedSet* find_name(std::span<const NamedSet> sets, std::string_view name) {
  const auto found = std::ranges::find(sets, name, &NamedSet::name);
  return found == sets.end() ? nullptr : &*found;
}

CharSet property(std::string_view name) {
  return {fmt::format("\\p{{{}}}", name), {}};
}

}  // namespace

void CharSet::add(const CharSet& more) {
  items += more.items;
  others.insert(others.end(), more.others.begin(), more.others.end());
}

std::string CharSet::pattern() const {
  if (others.empty()) return items.empty() ? "(?!)" : "[" + items + "]";
  if (items.empty() && others.size() == 1) return others[0];
  std::string out = "(?:";
  if (!items.empty()) out += "[" + items + "]|";
  for (size_t i = 0; i < others.size(); ++i) out += (i == 0 ? "" : "|") + others[i];
  return out + ")";
}

std::string CharSet::complement() const {
  if (!others.empty()) return "(?:(?!" + pattern() + ")(?s:.))";
  return items.empty() ? "(?s:.)" : "[^" + items + "]";
}

CharSet intersection(const CharSet& a, const CharSet& b) {
  return {"", {"(?:(?=" + a.pattern() + ")" + b.pattern() + ")"}};
}

std::optional<CharSet> escape_set(char letter) {
  switch (letter) {
    case 'w':
      return bracket_set("word");
    case 's':
      return bracket_set("space");
    case 'd':
      return bracket_set("digit");
    case 'h':
      return bracket_set("xdigit");
    default:
      return std::nullopt;
  }
}

CharSet word_outside_of_class() {
  CharSet set = *escape_set('w');
  set.items += "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";
  return set;
}

std::optional<CharSet> bracket_set(std::string_view name) {
  if (const NamedSet* set = find_name(kBracketSets, name)) {
    return CharSet{std::string(set->items), {}};
  }
  if (name == "graph") return CharSet{"", {"[^\\p{White_Space}\\p{Cc}\\p{Cn}\\p{Cs}]"}};
  if (name == "print") return CharSet{"", {"(?:\\p{Zs}|[^\\p{White_Space}\\p{Cc}\\p{Cn}\\p{Cs}])"}};
  return std::nullopt;
}

std::optional<CharSet> property_set(std::string_view name, const KnowsProperty& knows_property) {
  const std::string wanted = normalized_name(name);
  if (const auto set = bracket_set(wanted)) return set;
  if (const NamedSet* category = find_name(kCategories, wanted)) return property(category->items);
  if (wanted.empty() || std::ranges::find(kForeign, wanted) != std::end(kForeign) ||
      !std::ranges::all_of(wanted, [](char c) { return c >= 'a' && c <= 'z'; })) {
    return std::nullopt;
  }
  // A script has the characters of that script; to PCRE2 since 10.40, unless told so, also those
  // that scripts share.
  for (const std::string& known : {"sc:" + wanted, wanted}) {
    if (knows_property(known)) return property(known);
  }
  return std::nullopt;
}

std::optional<std::string> other_cases(std::string_view name) {
  const std::string wanted = normalized_name(name);
  const NamedSet* category = find_name(kCategories, wanted);
  const std::string known = category == nullptr ? wanted : normalized_name(category->items);
  if (known == "l") return "\\x{345}";  // a mark whose capital is the letter iota
  if (known == "m" || known == "mn") return "\\x{399}\\x{3b9}\\x{1fbe}";
  constexpr std::string_view kClosed[] = {
      "alnum", "alpha", "alphabetic", "blank",    "cntrl",    "digit",      "graph",
      "lm",    "lo",    "mc",         "me",       "print",    "punct",      "space",
      "word",  "han",   "hangul",     "hiragana", "katakana", "whitespace", "xdigit"};
  const bool is_closed = std::ranges::find(kClosed, known) != std::end(kClosed) ||
                         (!known.empty() && known.size() <= 2 &&
                          std::string_view("cnpsz").find(known[0]) != std::string_view::npos);
  if (!is_closed) return std::nullopt;
  return "";
}

bool is_property_of_case(std::string_view name) {
  const std::string wanted = normalized_name(name);
  constexpr std::string_view kNames[] = {"lu",
                                         "ll",
                                         "lt",
                                         "uppercaseletter",
                                         "lowercaseletter",
                                         "titlecaseletter",
                                         "upper",
                                         "uppercase",
                                         "lower",
                                         "lowercase",
                                         "lc",
                                         "casedletter"};
  return std::ranges::find(kNames, wanted) != std::end(kNames);
}

void append_literal(std::string& out, char32_t c) {
  const bool is_plain = c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                        (c >= 'a' && c <= 'z') || c == '_';
  if (is_plain) {
    append_utf8(out, c);
  } else {
    out += fmt::format("\\x{{{:02x}}}", uint32_t(c));
  }
}

}  // namespace tokamak
