#include "text/grammar/syntax.h"

#include <algorithm>
#include <charconv>

#include "text/unicode/unicode.h"

namespace tokamak::grammar {
namespace {

constexpr char32_t kLast = 0x10FFFF;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  Result<std::vector<Rule>> rules() {
    std::vector<Rule> all;
    for (skip(); !at_end(); skip()) {
      Rule rule{.name = std::string(name()), .body = {}, .line = line_};
      if (rule.name.empty() || !take_sign()) return wrong("a rule, \"name ::= ...\"");
      for (const Rule& other : all) {
        if (other.name == rule.name) {
          return invalid_input("line {}: The rule \"{}\" is in line {} already.", rule.line,
                               rule.name, other.line);
        }
      }
      TOK_TRY(rule.body, choice(0));
      all.push_back(std::move(rule));
      if (all.size() > kMaxRules) {
        return invalid_input("line {}: More than {} rules.", line_, kMaxRules);
      }
    }
    return all;
  }

 private:
  bool at_end() const { return at_ == source_.size(); }
  bool is(char c) const { return !at_end() && source_[at_] == c; }

  /// The next character, for a message.
  std::string found() const {
    if (at_end()) return "the text ends";
    const Utf8Char c = first_char(source_.substr(at_));
    return fmt::format("\"{}\" is there", c.value == '\n' ? "\\n" : source_.substr(at_, c.bytes));
  }
  Failure wrong(std::string_view expected) const {
    return invalid_input("line {}: Expected {}, but {}.", line_, expected, found());
  }

  /// Blanks, line ends and comments.
  void skip() {
    for (; !at_end(); ++at_) {
      if (is('#')) at_ = std::min(source_.find('\n', at_), source_.size());
      if (is('\n')) {
        ++line_;
      } else if (!is(' ') && !is('\t') && !is('\r')) {
        return;
      }
      if (at_end()) return;
    }
  }

  bool at_repeat() const { return is('*') || is('+') || is('?') || is('{'); }

  bool take(char c) {
    if (!is(c)) return false;
    ++at_;
    skip();
    return true;
  }
  bool take_sign() {
    skip();
    if (!source_.substr(at_).starts_with("::=")) return false;
    at_ += 3;
    skip();
    return true;
  }
  std::string_view name() {
    const size_t begin = at_;
    while (!at_end() && is_name(source_[at_])) ++at_;
    return source_.substr(begin, at_ - begin);
  }
  /// Whether a rule begins here: then the one before has ended.
  bool at_rule() const {
    Parser ahead = *this;
    return !ahead.name().empty() && ahead.take_sign();
  }

  Result<Node> choice(uint32_t depth) {
    Node node{.kind = Node::Kind::kChoice};
    do {
      TOK_TRY(node.children.emplace_back(), sequence(depth));
    } while (take('|'));
    if (node.children.size() > 1) return node;
    Node only = std::move(node.children.front());
    return only;
  }

  Result<Node> sequence(uint32_t depth) {
    Node node{.kind = Node::Kind::kSequence};
    while (!at_end() && !is('|') && !is(')') && !at_rule()) {
      TOK_TRY(Node item, single(depth));
      if (at_repeat()) {
        TOK_TRY(item, repeated(std::move(item)));
        if (at_repeat()) return wrong("one repetition, or parentheses around it");
      }
      node.children.push_back(std::move(item));
    }
    return node;
  }

  Result<Node> single(uint32_t depth) {
    Node node;
    if (take('(')) {
      if (depth == kMaxSyntaxDepth) {
        return invalid_input("line {}: More than {} groups in each other.", line_, kMaxSyntaxDepth);
      }
      TOK_TRY(node, choice(depth + 1));
      if (!take(')')) return wrong("\")\"");
      return node;
    }
    if (take('.')) {
      node.kind = Node::Kind::kClass;
      node.ranges = {{0, kLast}};
    } else if (is('"')) {
      node.kind = Node::Kind::kLiteral;
      for (++at_; !is('"');) {
        TOK_TRY(const char32_t c, character("the \" that ends the literal"));
        append_utf8(node.text, c);
      }
      ++at_;
    } else if (is('[')) {
      node.kind = Node::Kind::kClass;
      TOK_TRY(node.ranges, ranges());
    } else {
      node.kind = Node::Kind::kRule;
      node.line = line_;
      node.text = name();
      if (node.text.empty()) return wrong("a literal, a class, a group or the name of a rule");
    }
    skip();
    return node;
  }

  Result<Node> repeated(Node item) {
    Node node{.kind = Node::Kind::kRepeat};
    if (take('+')) {
      node.least = 1;
    } else if (take('?')) {
      node.most = 1;
    } else if (take('{')) {
      TOK_TRY(node.least, count());
      node.most = node.least;
      if (take(',')) {
        node.most = Node::kNoLimit;
        if (!is('}')) {
          TOK_TRY(node.most, count());
        }
      }
      if (!is('}')) return wrong("\"}\"");
      if (node.most < node.least) {
        return invalid_input("line {}: {{{},{}}} asks for at most fewer than at least.", line_,
                             node.least, node.most);
      }
      take('}');
    } else {
      take('*');
    }
    node.children.push_back(std::move(item));
    return node;
  }

  Result<uint32_t> count() {
    if (at_end() || source_[at_] < '0' || source_[at_] > '9') return wrong("a number");
    uint32_t value = 0;
    for (; !at_end() && source_[at_] >= '0' && source_[at_] <= '9'; ++at_) {
      value = value * 10 + uint32_t(source_[at_] - '0');
      if (value > kMaxRepeats) {
        return invalid_input("line {}: More than {} repetitions.", line_, kMaxRepeats);
      }
    }
    skip();
    return value;
  }

  /// One of a literal or a class, escapes resolved; line ends must be escaped, or an unfinished one
  /// would go on to the end.
  Result<char32_t> character(std::string_view expected) {
    if (at_end() || is('\n')) return wrong(expected);
    if (!is('\\')) {
      const Utf8Char c = first_char(source_.substr(at_));
      at_ += c.bytes;
      return c.value;
    }
    ++at_;
    if (at_end()) return wrong("an escape");
    const char kind = source_[at_];
    const auto digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits > 0) {
      ++at_;
      return code_point(size_t(digits));
    }
    constexpr std::string_view kEscapes = "nrt\\\"[]-^", kMeant = "\n\r\t\\\"[]-^";
    const size_t place = kEscapes.find(kind);
    if (place == kEscapes.npos) return wrong("one of n r t \\ \" [ ] - ^ x u U after a \\");
    ++at_;
    return char32_t(kMeant[place]);
  }

  Result<char32_t> code_point(size_t digits) {
    const std::string_view text = source_.substr(at_, digits);
    uint32_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    const size_t length = size_t(read.ptr - text.data());
    at_ += length;
    if (length != digits) return wrong("a hexadecimal digit");
    if (value > kLast || (value >= 0xD800 && value <= 0xDFFF)) {
      return invalid_input("line {}: U+{:X} is no character.", line_, value);
    }
    return char32_t(value);
  }

  Result<std::vector<std::pair<char32_t, char32_t>>> ranges() {
    constexpr std::string_view kEnd = "the ] that ends the class";
    std::vector<std::pair<char32_t, char32_t>> found;
    ++at_;
    const bool others = is('^');
    at_ += others;
    while (!is(']')) {
      TOK_TRY(const char32_t first, character(kEnd));
      char32_t last = first;
      if (is('-') && !source_.substr(at_).starts_with("-]")) {
        ++at_;
        TOK_TRY(last, character(kEnd));
      }
      if (last < first) {
        return invalid_input("line {}: A range of a class goes from U+{:04X} down to U+{:04X}.",
                             line_, uint32_t(first), uint32_t(last));
      }
      found.emplace_back(first, last);
    }
    ++at_;
    std::ranges::sort(found);
    std::vector<std::pair<char32_t, char32_t>> apart;
    for (const auto& range : found) {
      if (!apart.empty() && range.first <= apart.back().second + 1) {
        apart.back().second = std::max(apart.back().second, range.second);
      } else {
        apart.push_back(range);
      }
    }
    if (!others) return apart;
    std::vector<std::pair<char32_t, char32_t>> rest;
    char32_t next = 0;
    for (const auto& [first, last] : apart) {
      if (first > next) rest.emplace_back(next, first - 1);
      next = last + 1;
    }
    if (next <= kLast) rest.emplace_back(next, kLast);
    return rest;
  }

  std::string_view source_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Result<std::vector<Rule>> parse(std::string_view source) {
  if (!is_valid_utf8(source)) return invalid_input("The grammar is not UTF-8.");
  return Parser(source).rules();
}

}  // namespace tokamak::grammar
