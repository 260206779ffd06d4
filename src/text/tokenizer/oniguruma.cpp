#include "text/tokenizer/oniguruma.h"

#include <algorithm>

#include "text/tokenizer/oniguruma_case.h"
#include "text/tokenizer/oniguruma_reader.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

constexpr uint32_t kMaxDepth = 100;
constexpr uint32_t kMaxRepeats = 65535;  // PCRE2's; Oniguruma has 100000
constexpr std::string_view kBlanks = " \t\n\v\f\r";

struct Options {
  bool ignore_case = false;  // (?i)
  bool dot_all = false;      // (?m)
  bool extended = false;     // (?x)
};

struct Repeat {
  uint32_t min = 0;
  std::optional<uint32_t> max;
  enum class Mode : uint8_t { kGreedy, kLazy, kPossessive } mode = Mode::kGreedy;
};

/// Between a character of a word and another one, or not: PCRE2's \b goes by its own \w.
std::string word_bound(bool is_bound) {
  return fmt::format("(?:(?<={0})(?{1}{0})|(?<!{0})(?{2}{0}))", word_outside_of_class().pattern(),
                     is_bound ? "!" : "=", is_bound ? "=" : "!");
}

std::string spell(const Repeat& repeat) {
  std::string out;
  if (repeat.max == repeat.min) {
    out = fmt::format("{{{}}}", repeat.min);
  } else if (repeat.max) {
    out = repeat.min == 0 && *repeat.max == 1 ? "?"
                                              : fmt::format("{{{},{}}}", repeat.min, *repeat.max);
  } else {
    out = repeat.min == 0 ? "*" : repeat.min == 1 ? "+" : fmt::format("{{{},}}", repeat.min);
  }
  if (repeat.mode == Repeat::Mode::kLazy) out += '?';
  if (repeat.mode == Repeat::Mode::kPossessive) out += '+';
  return out;
}

/// The bytes of "(?im-x:" or "(?i)" at the start of `text`, or 0.
size_t options_size(std::string_view text) {
  if (!text.starts_with("(?")) return 0;
  const size_t end =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-", 2);
  return end == text.npos || end == 2 || (text[end] != ':' && text[end] != ')') ? 0 : end + 1;
}

std::string option_group(const Options& from, const Options& to) {
  if (from.ignore_case == to.ignore_case) return "(?:";
  return to.ignore_case ? "(?i:" : "(?-i:";
}

/// The findings of a first look at the whole pattern.
struct Findings {
  bool names = false;      // then groups without a name do not capture
  bool references = true;  // without any, no group needs to capture
};

class Translator {
 public:
  Translator(std::string_view pattern, const KnowsProperty& knows_property, Findings findings)
      : reader_(pattern, knows_property), findings_(findings) {}

  Result<std::string> translate() {
    TOK_TRY(Atom whole, take_alternatives({}, 0));
    if (!reader_.at_end()) return reader_.mistake("\")\" without \"(\"", reader_.position());
    for (const auto& [number, start] : references_) {
      if (number > groups_) return reader_.mistake("a reference to no group", start);
    }
    return std::move(whole.text);
  }

  Findings findings() const { return {!names_.empty(), !references_.empty()}; }

 private:
  Result<Atom> take_alternatives(const Options& options, uint32_t depth);
  Result<std::vector<Atom>> take_branch(const Options& options, uint32_t depth);
  Result<std::optional<Options>> take_options(Options options, char end, size_t start);
  Result<Atom> take_atom(const Options& options, uint32_t depth);
  Result<Atom> take_group(const Options& options, uint32_t depth, size_t start);
  Result<Atom> take_inside(std::string_view opening, const Options& options, uint32_t depth,
                           size_t start);
  Result<Atom> take_named_group(std::string_view end, const Options& options, uint32_t depth,
                                size_t start);
  Result<Atom> take_escape(const Options& options, size_t start);
  Result<Atom> take_reference(size_t start);
  Result<Atom> take_numbered_reference(uint32_t number, size_t start);
  Result<Atom> literal(char32_t c, const Options& options, size_t start) const;
  Result<void> take_repeats(const Options& options, Atom& atom);
  Result<std::optional<Repeat>> take_repeat();
  Result<std::optional<Repeat>> take_interval();
  void skip_blanks(const Options& options);

  OnigurumaReader reader_;
  Findings findings_;
  uint32_t groups_ = 0;
  std::vector<std::pair<std::string_view, uint32_t>> names_;
  std::vector<std::pair<uint32_t, size_t>> references_;  // and where they stand
};

void Translator::skip_blanks(const Options& options) {
  while (options.extended && !reader_.at_end()) {
    const char c = reader_.rest()[0];
    if (c == '#') {
      if (!reader_.take_until("\n")) reader_.skip(reader_.rest().size());
    } else if (kBlanks.find(c) != kBlanks.npos) {
      reader_.skip(1);
    } else {
      return;
    }
  }
}

/// Up to the ")" that ends the group, or the end. A single repeat stays known as one.
Result<Atom> Translator::take_alternatives(const Options& options, uint32_t depth) {
  if (depth > kMaxDepth) return reader_.refuse("groups nested too deeply", reader_.position());
  Atom out;
  bool is_first = true;
  do {
    TOK_TRY(const std::vector<Atom> atoms, take_branch(options, depth));
    if (!is_first) out.text += '|';
    if (options.ignore_case) {
      out.text += spell_folded(atoms);
    } else {
      for (const Atom& atom : atoms) out.text += atom.text;
    }
    const bool is_repeat = is_first && atoms.size() == 1 && atoms[0].kind != Atom::Kind::kAnchor;
    out.kind = is_repeat ? atoms[0].kind : Atom::Kind::kPlain;
    is_first = false;
  } while (reader_.take_if("|"));
  return out;
}

Result<std::vector<Atom>> Translator::take_branch(const Options& options, uint32_t depth) {
  std::vector<Atom> atoms;
  for (skip_blanks(options); !reader_.at_end(); skip_blanks(options)) {
    if (reader_.rest().starts_with("|") || reader_.rest().starts_with(")")) break;
    const size_t start = reader_.position();
    if (reader_.take_if("(?#")) {
      if (!reader_.take_until(")")) return reader_.mistake("a comment without its end", start);
      continue;
    }
    TOK_TRY(const auto changed, take_options(options, ')', start));
    if (changed) {  // it reaches over each "|" after it, to the end of the group
      TOK_TRY(const Atom rest, take_alternatives(*changed, depth + 1));
      atoms.push_back({option_group(options, *changed) + rest.text + ")"});
      break;
    }
    TOK_TRY(Atom atom, take_atom(options, depth));
    TOK_TRY(take_repeats(options, atom));
    atoms.push_back(std::move(atom));
  }
  return atoms;
}

/// "(?i" and the like before `end`, which is skipped: the options from there on. Nothing for all
/// else.
Result<std::optional<Options>> Translator::take_options(Options options, char end, size_t start) {
  const size_t size = options_size(reader_.rest());
  if (size == 0 || reader_.rest()[size - 1] != end) return std::nullopt;
  bool on = true;
  for (const char c : reader_.rest().substr(2, size - 3)) {
    if (c == '-') {
      on = false;
    } else if (c == 'i') {
      options.ignore_case = on;
    } else if (c == 'm') {
      options.dot_all = on;
    } else if (c == 'x') {
      options.extended = on;
    } else {
      return reader_.refuse(fmt::format("the option {}", c), start);
    }
  }
  reader_.skip(size);
  return options;
}

Result<Atom> Translator::take_atom(const Options& options, uint32_t depth) {
  const size_t start = reader_.position();
  TOK_TRY(const auto repeat, take_repeat());
  if (repeat) return reader_.mistake("nothing to repeat", start);
  TOK_TRY(const auto changed, take_options(options, ':', start));
  if (changed) {
    TOK_TRY(Atom atom, take_inside(option_group(options, *changed), *changed, depth, start));
    atom.kind = Atom::Kind::kPlain;
    return atom;
  }
  const char32_t c = reader_.take();
  if (c == '(') return take_group(options, depth, start);
  if (c == '\\') return take_escape(options, start);
  if (c == '.') return Atom{options.dot_all ? "(?s:.)" : "[^\\n]"};
  if (c == '^' || c == '$') return Atom{std::string(1, char(c)), Atom::Kind::kAnchor};
  if (c != '[') return literal(c, options, start);
  TOK_TRY(const CharSet set, reader_.take_class(options.ignore_case));
  return Atom{set.pattern()};
}

Result<Atom> Translator::literal(char32_t c, const Options& options, size_t start) const {
  if (options.ignore_case && takes_part_in_folding(c)) {
    return reader_.refuse(fmt::format("U+{:04X} under (?i)", uint32_t(c)), start);
  }
  Atom atom{"", Atom::Kind::kPlain, c};
  append_literal(atom.text, c);
  return atom;
}

/// The inside of a group and its ")".
Result<Atom> Translator::take_inside(std::string_view opening, const Options& options,
                                     uint32_t depth, size_t start) {
  TOK_TRY(const Atom inside, take_alternatives(options, depth + 1));
  if (!reader_.take_if(")")) return reader_.mistake("\"(\" without \")\"", start);
  return Atom{std::string(opening) + inside.text + ")", inside.kind};
}

/// After the "(", which stands at `start`.
Result<Atom> Translator::take_group(const Options& options, uint32_t depth, size_t start) {
  if (reader_.take_if("?:")) return take_inside("(?:", options, depth, start);
  constexpr std::string_view kLooks[] = {"?=", "?!", "?<=", "?<!"};
  for (const std::string_view look : kLooks) {
    if (!reader_.take_if(look)) continue;
    TOK_TRY(Atom atom, take_inside("(" + std::string(look), options, depth, start));
    atom.kind = Atom::Kind::kAnchor;
    return atom;
  }
  struct Unknown {
    std::string_view opening, name;
  };
  constexpr Unknown kUnknown[] = {
      {"?~", "an absent group"}, {"?(", "a condition"}, {"?{", "a callout"}, {"*", "a callout"}};
  for (const Unknown& unknown : kUnknown) {
    if (reader_.rest().starts_with(unknown.opening)) return reader_.refuse(unknown.name, start);
  }
  Atom atom;
  if (reader_.take_if("?>")) {
    TOK_TRY(atom, take_inside("(?>", options, depth, start));
  } else if (reader_.take_if("?<")) {
    return take_named_group(">", options, depth, start);
  } else if (reader_.take_if("?'")) {
    return take_named_group("'", options, depth, start);
  } else if (reader_.rest().starts_with("?")) {
    return reader_.refuse("a group of an unknown kind", start);
  } else {
    const bool captures = !findings_.names && findings_.references;
    if (!findings_.names) ++groups_;
    TOK_TRY(atom, take_inside(captures ? "(" : "(?:", options, depth, start));
  }
  atom.kind = Atom::Kind::kPlain;
  return atom;
}

/// After "(?<" or "(?'".
Result<Atom> Translator::take_named_group(std::string_view end, const Options& options,
                                          uint32_t depth, size_t start) {
  const auto name = reader_.take_until(end);
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || uint8_t(c) >= 0x80;
  };
  if (!name || name->empty() || !is_letter((*name)[0])) {
    return reader_.mistake("a group with a wrong name", start);
  }
  if (std::ranges::find(names_, *name, [](const auto& known) { return known.first; }) !=
      names_.end()) {
    return reader_.refuse("two groups of one name", start);
  }
  names_.emplace_back(*name, findings_.names ? ++groups_ : 0);
  TOK_TRY(Atom atom, take_inside(findings_.references ? "(" : "(?:", options, depth, start));
  atom.kind = Atom::Kind::kPlain;
  return atom;
}

Result<Atom> Translator::take_numbered_reference(uint32_t number, size_t start) {
  references_.emplace_back(number, start);
  return Atom{fmt::format("\\g{{{}}}", number)};
}

/// After "\k".
Result<Atom> Translator::take_reference(size_t start) {
  const std::string_view end = reader_.take_if("<") ? ">" : "'";
  if (end == "'") reader_.skip(1);
  const auto name = reader_.take_until(end);
  if (!name || name->empty()) return reader_.mistake("a reference without its end", start);
  if (name->find_first_not_of("0123456789+-") == std::string_view::npos) {
    return reader_.refuse("a reference by number in \\k", start);
  }
  const auto found =
      std::ranges::find(names_, *name, [](const auto& known) { return known.first; });
  if (found == names_.end()) return reader_.mistake("a reference to no group", start);
  return take_numbered_reference(found->second, start);
}

/// After the backslash, which stands at `start`.
Result<Atom> Translator::take_escape(const Options& options, size_t start) {
  if (reader_.at_end()) return reader_.mistake("a backslash without a character", start);
  const char32_t letter = reader_.take();
  TOK_TRY(const auto set, reader_.take_escaped_set(letter, options.ignore_case, false, start));
  if (set) return Atom{set->pattern()};
  switch (letter) {
    case 'A':
    case 'z':
    case 'Z':
    case 'G':
    case 'K':
      return Atom{{'\\', char(letter)}, Atom::Kind::kAnchor};
    case 'b':
    case 'B':
      return Atom{word_bound(letter == 'b'), Atom::Kind::kAnchor};
    case 'N':
      return Atom{"[^\\n]"};
    case 'O':
      return Atom{"(?s:.)"};
    case 'R':
      return Atom{"(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])"};
    case 'X':
    case 'y':
    case 'Y':
      return reader_.refuse(std::string{'\\', char(letter)}, start);
    default:
      break;
  }
  const bool is_quoted = reader_.rest().starts_with("<") || reader_.rest().starts_with("'");
  if (letter == 'g' && is_quoted) return reader_.refuse("a call of a group", start);
  if (letter == 'k' && is_quoted) return take_reference(start);
  if (letter >= '1' && letter <= '9') {
    // Several digits are a number in octal, unless enough groups stand before them.
    const bool is_longer =
        !reader_.at_end() && reader_.rest()[0] >= '0' && reader_.rest()[0] <= '9';
    if (is_longer && groups_ >= 10) return reader_.refuse("a reference of several digits", start);
    if (!is_longer) {
      if (findings_.names) return reader_.mistake("a reference by number beside names", start);
      return take_numbered_reference(uint32_t(letter - '0'), start);
    }
  }
  TOK_TRY(const char32_t c, reader_.take_escaped(letter, start));
  return literal(c, options, start);
}

/// "{2}", "{1,3}", "{2,}" or "{,3}"; nothing when it is no interval but text.
Result<std::optional<Repeat>> Translator::take_interval() {
  const size_t start = reader_.position();
  std::string_view rest = reader_.rest().substr(1);
  const auto take_number = [&]() -> std::optional<uint32_t> {
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    uint32_t number = 0;
    for (size_t i = 0; i < digits && number <= kMaxRepeats; ++i) {
      number = number * 10 + uint32_t(rest[i] - '0');
    }
    rest.remove_prefix(digits);
    return digits == 0 ? std::nullopt : std::optional(number);
  };
  const auto min = take_number();
  auto max = min;
  if (rest.starts_with(",")) {
    rest.remove_prefix(1);
    max = take_number();
    if (!min && !max) return std::nullopt;
  }
  if (!rest.starts_with("}") || (!min && !max)) return std::nullopt;
  if (min.value_or(0) > kMaxRepeats || max.value_or(0) > kMaxRepeats) {
    return reader_.refuse(fmt::format("more than {} repeats", kMaxRepeats), start);
  }
  reader_.skip(reader_.rest().size() - rest.size() + 1);
  Repeat repeat{min.value_or(0), max};
  if (max && *max < repeat.min) {  // the way to write a possessive interval
    repeat = {*max, repeat.min, Repeat::Mode::kPossessive};
  }
  return repeat;
}

Result<std::optional<Repeat>> Translator::take_repeat() {
  if (reader_.at_end()) return std::nullopt;
  const size_t start = reader_.position();
  const char c = reader_.rest()[0];
  if (c == '{') {
    TOK_TRY(auto repeat, take_interval());
    // "{2}?" is "(?:{2})?", and so is "{2}+"; take_repeats() goes on with the sign.
    if (!repeat || repeat->max == repeat->min || !reader_.rest().starts_with("?")) return repeat;
    if (repeat->mode == Repeat::Mode::kPossessive) {
      return reader_.refuse("a lazy possessive interval", start);
    }
    reader_.skip(1);
    repeat->mode = Repeat::Mode::kLazy;
    return repeat;
  }
  if (c != '?' && c != '*' && c != '+') return std::nullopt;
  reader_.skip(1);
  Repeat repeat{c == '+' ? 1u : 0u, c == '?' ? std::optional(1u) : std::nullopt};
  if (reader_.take_if("?")) {
    repeat.mode = Repeat::Mode::kLazy;
  } else if (reader_.take_if("+")) {
    repeat.mode = Repeat::Mode::kPossessive;
  }
  return repeat;
}

Result<void> Translator::take_repeats(const Options& options, Atom& atom) {
  for (bool is_first = true;; is_first = false) {
    skip_blanks(options);
    const size_t start = reader_.position();
    TOK_TRY(const auto repeat, take_repeat());
    if (!repeat) return {};
    if (atom.kind == Atom::Kind::kAnchor) return reader_.mistake("a repeated anchor", start);
    const bool is_lazy = repeat->mode == Repeat::Mode::kLazy;
    // Oniguruma makes one repeat of two, which is not always the same where one is lazy.
    if (atom.kind == Atom::Kind::kLazy || (atom.kind == Atom::Kind::kGreedy && is_lazy)) {
      return reader_.refuse("a repeat of a lazy repeat", start);
    }
    if (!is_first) atom.text = "(?:" + atom.text + ")";
    atom.text += spell(*repeat);
    atom.character.reset();
    const bool is_possessive = repeat->mode == Repeat::Mode::kPossessive;
    atom.kind = is_lazy         ? Atom::Kind::kLazy
                : is_possessive ? Atom::Kind::kPlain
                                : Atom::Kind::kGreedy;
  }
}

}  // namespace

Result<std::string> oniguruma_to_pcre2(std::string_view pattern,
                                       const KnowsProperty& knows_property) {
  Translator first(pattern, knows_property, {});
  TOK_TRY(std::string text, first.translate());
  const Findings found = first.findings();
  if (!found.names && found.references) return text;
  return Translator(pattern, knows_property, found).translate();
}

}  // namespace tokamak
