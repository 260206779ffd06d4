#include "text/grammar/regular_expression.h"

#include <algorithm>

#include "text/grammar/nfa.h"
#include "text/unicode/unicode.h"

namespace tokamak::grammar {
namespace {

constexpr uint32_t kMaxRepetitions = 10000, kMaxGroups = 100;
constexpr uint32_t kNoEnd = UINT32_MAX;

/// A part of an expression; sequences and choices have several children.
struct Part {
  enum class Kind : uint8_t { kCharacter, kSequence, kChoice, kRepeat, kBegin, kEnd };
  Kind kind = Kind::kSequence;
  CharacterRanges ranges;
  std::vector<Part> children;
  uint32_t least = 0, most = kNoEnd;
};

const CharacterRanges& digits() {
  static const CharacterRanges ranges = {{'0', '9'}};
  return ranges;
}
const CharacterRanges& word_characters() {
  static const CharacterRanges ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  return ranges;
}
/// WhiteSpace and LineTerminator of ECMA-262.
const CharacterRanges& white_space() {
  static const CharacterRanges ranges = {
      {9, 13},          {32, 32},         {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
      {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
  return ranges;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Part> whole() {
    TOK_TRY(Part part, choice(0));
    if (!at_end()) return wrong("\")\" has no \"(\" before it");
    return part;
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  bool is(char c) const { return !at_end() && text_[at_] == c; }
  bool take(char c) {
    if (!is(c)) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Failure wrong(std::string_view what) const {
    return invalid_input("character {} of the expression: {}", at_ + 1, what);
  }
  Failure beyond(std::string_view what) const {
    return unsupported("character {} of the expression: {} cannot be held by an automaton", at_ + 1,
                       what);
  }

  Result<Part> choice(uint32_t depth) {
    if (depth > kMaxGroups) return wrong("too many groups in each other");
    Part part{.kind = Part::Kind::kChoice};
    do {
      Part sequence;
      while (!at_end() && !is('|') && !is(')')) {
        TOK_TRY(Part one, term(depth));
        TOK_TRY(one, repeated(std::move(one)));
        sequence.children.push_back(std::move(one));
      }
      part.children.push_back(std::move(sequence));
    } while (take('|'));
    return part;
  }

  Result<Part> term(uint32_t depth) {
    if (take('(')) {
      if (is('?') && !take("?:")) {
        for (const std::string_view sign : {"?=", "?!", "?<=", "?<!"}) {
          if (text_.substr(at_).starts_with(sign)) return beyond("look-around");
        }
        if (!take("?<")) return wrong("a group of an unknown kind");
        at_ = std::min(text_.find('>', at_), text_.size());
        if (!take('>')) return wrong("expected the > that ends the name of a group");
      }
      TOK_TRY(Part part, choice(depth + 1));
      if (!take(')')) return wrong("expected \")\"");
      return part;
    }
    if (take('^')) return Part{.kind = Part::Kind::kBegin};
    if (take('$')) return Part{.kind = Part::Kind::kEnd};
    Part part{.kind = Part::Kind::kCharacter};
    if (take('.')) {
      part.ranges = other_ranges({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
    } else if (take('[')) {
      TOK_TRY(part.ranges, character_class());
    } else if (is('*') || is('+') || is('?')) {
      return wrong("there is nothing to repeat");
    } else if (take('\\')) {
      TOK_TRY(part.ranges, escape(false));
    } else {
      const Utf8Char c = first_char(text_.substr(at_));
      at_ += c.bytes;
      part.ranges = {{c.value, c.value}};
    }
    return part;
  }

  Result<Part> repeated(Part part) {
    uint32_t least = 0, most = kNoEnd;
    if (take('+')) {
      least = 1;
    } else if (take('?')) {
      most = 1;
    } else if (is('{') && is_count()) {
      ++at_;
      TOK_TRY(least, number());
      most = least;
      if (take(',')) {
        most = kNoEnd;
        if (!is('}')) {
          TOK_TRY(most, number());
        }
      }
      ++at_;  // is_count() has seen the }
      if (most < least) return wrong("a repetition asks for at most fewer than at least");
    } else if (!take('*')) {
      return part;
    }
    take('?');  // how much of the text a part takes makes no difference to the whole
    if (is('*') || is('+')) return wrong("a repetition of a repetition");
    Part made{.kind = Part::Kind::kRepeat};
    made.least = least;
    made.most = most;
    made.children.push_back(std::move(part));
    return made;
  }

  /// Other braces stand for themselves, as browsers have it.
  bool is_count() const {
    size_t at = at_ + 1;
    const auto skip_digits = [&] {
      const size_t begin = at;
      while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') ++at;
      return at > begin;
    };
    if (!skip_digits()) return false;
    if (at < text_.size() && text_[at] == ',') {
      ++at;
      skip_digits();
    }
    return at < text_.size() && text_[at] == '}';
  }

  Result<uint32_t> number() {
    uint32_t value = 0;
    for (; !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + uint32_t(text_[at_] - '0');
      if (value > kMaxRepetitions) {
        return fail(ErrorCode::kUnsupported, "more than {} repetitions", kMaxRepetitions);
      }
    }
    return value;
  }

  Result<CharacterRanges> character_class() {
    const bool others = take('^');
    CharacterRanges ranges;
    while (!take(']')) {
      if (at_end()) return wrong("expected the ] that ends the class");
      TOK_TRY(const CharacterRanges low, class_atom());
      const bool is_range = is('-') && !text_.substr(at_).starts_with("-]");
      if (!is_range || low.size() != 1 || low[0].first != low[0].second) {
        ranges.insert(ranges.end(), low.begin(), low.end());
        continue;
      }
      ++at_;
      if (at_end()) return wrong("expected the ] that ends the class");
      TOK_TRY(const CharacterRanges high, class_atom());
      if (high.size() != 1 || high[0].first != high[0].second) {  // [a-\d]: three of them
        ranges.push_back(low[0]);
        ranges.emplace_back('-', '-');
        ranges.insert(ranges.end(), high.begin(), high.end());
        continue;
      }
      if (high[0].first < low[0].first) return wrong("a range of a class goes down");
      ranges.emplace_back(low[0].first, high[0].first);
    }
    ranges = united_ranges(std::move(ranges));
    return others ? other_ranges(ranges) : ranges;
  }

  Result<CharacterRanges> class_atom() {
    if (take('\\')) return escape(true);
    const Utf8Char c = first_char(text_.substr(at_));
    at_ += c.bytes;
    return CharacterRanges{{c.value, c.value}};
  }

  Result<CharacterRanges> escape(bool in_class) {
    if (at_end()) return wrong("a \\ at the end");
    const Utf8Char c = first_char(text_.substr(at_));
    at_ += c.bytes;
    const auto only = [](char32_t value) { return CharacterRanges{{value, value}}; };
    switch (c.value) {
      case 'd':
        return digits();
      case 'D':
        return other_ranges(digits());
      case 'w':
        return word_characters();
      case 'W':
        return other_ranges(word_characters());
      case 's':
        return white_space();
      case 'S':
        return other_ranges(white_space());
      case 't':
        return only('\t');
      case 'n':
        return only('\n');
      case 'r':
        return only('\r');
      case 'v':
        return only('\v');
      case 'f':
        return only('\f');
      case 'b':
        if (in_class) return only('\b');
        return beyond("a word boundary");
      case 'B':
        return beyond("a word boundary");
      case 'k':
        return beyond("a back reference");
      case 'p':
      case 'P':
        return unsupported("character {} of the expression: properties of Unicode are not known",
                           at_);
      case 'c':
        if (at_end()) return wrong("a letter is expected after \\c");
        return only(char32_t(text_[at_++] & 31));
      case 'x':
        return single(hexadecimal(2));
      case 'u':
        return single(code_point());
      case '0':
        return only(0);
      default:
        if (c.value >= '1' && c.value <= '9') return beyond("a back reference");
        return only(c.value);
    }
  }

  static Result<CharacterRanges> single(const Result<char32_t>& character) {
    if (!character) return Failure(character.error());
    return CharacterRanges{{*character, *character}};
  }

  Result<char32_t> hexadecimal(size_t count) {
    char32_t value = 0;
    for (size_t i = 0; i < count; ++i) {
      const char c = at_end() ? ' ' : text_[at_];
      const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!is_letter && (c < '0' || c > '9')) return wrong("a hexadecimal digit is expected");
      value = value * 16 + char32_t(is_letter ? (c | 32) - 'a' + 10 : c - '0');
      ++at_;
    }
    return value;
  }

  Result<char32_t> code_point() {
    if (take('{')) {
      const size_t count = text_.substr(at_).find('}');
      if (count == 0 || count > 6) return wrong("up to 6 hexadecimal digits are expected");
      TOK_TRY(const char32_t value, hexadecimal(count));
      ++at_;
      if (value > kLastCharacter) return wrong("there is no such character");
      return value;
    }
    TOK_TRY(const char32_t high, hexadecimal(4));
    if (high < 0xD800 || high > 0xDBFF || !text_.substr(at_).starts_with("\\u")) return high;
    const size_t before = at_;
    at_ += 2;
    TOK_TRY(const char32_t low, hexadecimal(4));
    if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    at_ = before;
    return high;
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// Makes states from the end: each part is given the state after it and gives the one before it.
uint32_t before(const Part& part, uint32_t next, Nfa& nfa) {
  switch (part.kind) {
    case Part::Kind::kCharacter:
      return nfa.character(part.ranges, next);
    case Part::Kind::kBegin:
      return nfa.add({.kind = Nfa::State::Kind::kBegin, .next = next});
    case Part::Kind::kEnd:
      return nfa.add({.kind = Nfa::State::Kind::kEnd, .next = next});
    case Part::Kind::kSequence:
      for (auto child = part.children.rbegin(); child != part.children.rend(); ++child) {
        next = before(*child, next, nfa);
      }
      return next;
    case Part::Kind::kChoice: {
      uint32_t begin = before(part.children.back(), next, nfa);
      for (size_t i = part.children.size() - 1; i-- > 0;) {
        begin = nfa.split(before(part.children[i], next, nfa), begin);
      }
      return begin;
    }
    case Part::Kind::kRepeat:
      break;
  }
  const Part& child = part.children.front();
  if (part.most == kNoEnd) {
    const uint32_t loop = nfa.split(next, next);
    nfa.state(loop).other = before(child, loop, nfa);
    next = loop;
  } else {
    const uint32_t end = next;
    for (uint32_t i = part.least; i < part.most && !nfa.is_full(); ++i) {
      next = nfa.split(before(child, next, nfa), end);
    }
  }
  for (uint32_t i = 0; i < part.least && !nfa.is_full(); ++i) next = before(child, next, nfa);
  return next;
}

}  // namespace

Result<Automaton> automaton_of(std::string_view expression, Match match) {
  if (!is_valid_utf8(expression)) return invalid_input("the expression is not UTF-8");
  TOK_TRY(const Part whole, Reader(expression).whole());
  Nfa nfa;
  const CharacterRanges all = {{0, kLastCharacter}};
  const uint32_t end = nfa.add({.kind = Nfa::State::Kind::kMatch});
  uint32_t next = end;
  const auto add_loop = [&] {
    const uint32_t loop = nfa.split(next, next);
    nfa.state(loop).other = nfa.character(all, loop);
    next = loop;
  };
  if (match == Match::kAnywhere) add_loop();
  next = before(whole, next, nfa);
  if (match == Match::kAnywhere) add_loop();
  AutomatonOr made;
  if (!nfa.is_full()) made = nfa.determined(next);
  if (!made) return unsupported("the expression takes more than {} states", Automaton::kMaxStates);
  return *std::move(made);
}

}  // namespace tokamak::grammar
