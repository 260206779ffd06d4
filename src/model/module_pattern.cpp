#include "model/module_pattern.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <utility>

namespace tokamak {

struct PatternNode {
  enum class Kind : uint8_t { kByte, kBegin, kEnd, kSequence, kChoice, kRepeat };
  Kind kind = Kind::kSequence;
  std::bitset<256> bytes;             // kByte: those that it may be
  std::vector<PatternNode> parts;     // kSequence, kChoice; kRepeat has one
  size_t least = 0, most = SIZE_MAX;  // kRepeat
};

namespace {

using Kind = PatternNode::Kind;
/// Places in a name, from 0 to its end: where a match may begin or end. All are followed at once,
/// so that no pattern takes long.
using Places = std::vector<bool>;

constexpr size_t kMaxRepeats = 1000, kMaxDepth = 32;

Places ends_of(const PatternNode& node, std::string_view name, Places places) {
  switch (node.kind) {
    case Kind::kByte:
      for (size_t i = name.size(); i > 0; --i) {
        places[i] = places[i - 1] && node.bytes[uint8_t(name[i - 1])];
      }
      places[0] = false;
      return places;
    case Kind::kBegin:
      std::fill(places.begin() + 1, places.end(), false);
      return places;
    case Kind::kEnd:
      std::fill(places.begin(), places.end() - 1, false);
      return places;
    case Kind::kSequence:
      for (const PatternNode& part : node.parts) places = ends_of(part, name, std::move(places));
      return places;
    case Kind::kChoice: {
      Places all(places.size());
      for (const PatternNode& part : node.parts) {
        const Places own = ends_of(part, name, places);
        for (size_t i = 0; i < all.size(); ++i) all[i] = all[i] || own[i];
      }
      return all;
    }
    case Kind::kRepeat:
      break;
  }
  for (size_t i = 0; i < node.least; ++i) {
    Places next = ends_of(node.parts[0], name, places);
    if (next == places) break;  // as in all rounds after it
    places = std::move(next);
  }
  Places all = places;
  // A further round in which no place is new brings none any more.
  for (size_t i = node.least; i < node.most; ++i) {
    places = ends_of(node.parts[0], name, std::move(places));
    bool has_new = false;
    for (size_t k = 0; k < all.size(); ++k) {
      has_new = has_new || (places[k] && !all[k]);
      all[k] = all[k] || places[k];
    }
    if (!has_new) break;
  }
  return all;
}

std::bitset<256> range(uint8_t first, uint8_t last) {
  std::bitset<256> bytes;
  for (size_t i = first; i <= last; ++i) bytes.set(i);
  return bytes;
}

/// The bytes of \d, \w and \s and their opposites; nothing for other letters.
std::optional<std::bitset<256>> class_of(char letter) {
  std::bitset<256> bytes;
  switch (letter | 0x20) {
    case 'd':
      bytes = range('0', '9');
      break;
    case 'w':
      bytes = range('0', '9') | range('a', 'z') | range('A', 'Z') | range('_', '_');
      break;
    case 's':
      bytes = range('\t', '\r') | range(' ', ' ');
      break;
    default:
      return std::nullopt;
  }
  return letter >= 'a' ? bytes : ~bytes;
}

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<PatternNode> run() {
    auto node = choice(0);
    if (!node || !rest_.empty()) return std::nullopt;
    return node;
  }

 private:
  bool take(std::string_view what) {
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }

  std::optional<char> next() {
    if (rest_.empty()) return std::nullopt;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::optional<PatternNode> choice(size_t depth) {
    PatternNode node{.kind = Kind::kChoice, .bytes = {}, .parts = {}};
    do {
      auto one = sequence(depth);
      if (!one) return std::nullopt;
      node.parts.push_back(*std::move(one));
    } while (take("|"));
    return node;
  }

  std::optional<PatternNode> sequence(size_t depth) {
    PatternNode node{.kind = Kind::kSequence, .bytes = {}, .parts = {}};
    while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      auto one = atom(depth);
      if (!one) return std::nullopt;
      auto repeated = repeat(*std::move(one));
      if (!repeated) return std::nullopt;
      node.parts.push_back(*std::move(repeated));
    }
    return node;
  }

  std::optional<PatternNode> atom(size_t depth) {
    if (take("(")) {
      take("?:");
      if (depth == kMaxDepth || rest_.starts_with("?")) return std::nullopt;
      auto node = choice(depth + 1);
      if (!node || !take(")")) return std::nullopt;
      return node;
    }
    if (take("^")) return PatternNode{.kind = Kind::kBegin, .bytes = {}, .parts = {}};
    if (take("$")) return PatternNode{.kind = Kind::kEnd, .bytes = {}, .parts = {}};
    const auto bytes = take("[") ? bracket() : one_byte();
    if (!bytes) return std::nullopt;
    return PatternNode{.kind = Kind::kByte, .bytes = *bytes, .parts = {}};
  }

  std::optional<std::bitset<256>> one_byte() {
    const auto c = next();
    if (c == '\\') return escape();
    if (c == '.') return ~range('\n', '\n');
    constexpr std::string_view kSpecial = "*+?{";
    if (!c || kSpecial.find(*c) != kSpecial.npos) return std::nullopt;
    return range(uint8_t(*c), uint8_t(*c));
  }

  std::optional<std::bitset<256>> escape() {
    const auto c = next();
    if (!c) return std::nullopt;
    if (is_letter_or_digit(*c)) return class_of(*c);
    return range(uint8_t(*c), uint8_t(*c));
  }

  /// Reads a class after its first bracket.
  std::optional<std::bitset<256>> bracket() {
    const bool is_negative = take("^");
    std::bitset<256> bytes;
    bool is_first = true;
    while (is_first || !rest_.starts_with("]")) {
      is_first = false;
      const auto c = next();
      if (!c) return std::nullopt;
      if (c == '\\') {
        const auto own = escape();
        if (!own) return std::nullopt;
        bytes |= *own;
      } else if (rest_.size() >= 2 && rest_[0] == '-' && rest_[1] != ']') {
        take("-");
        const auto last = next();
        if (last == '\\' || uint8_t(*last) < uint8_t(*c)) return std::nullopt;
        bytes |= range(uint8_t(*c), uint8_t(*last));
      } else {
        bytes.set(uint8_t(*c));
      }
    }
    take("]");
    return is_negative ? ~bytes : bytes;
  }

  std::optional<size_t> number() {
    std::optional<size_t> value;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      value = value.value_or(0) * 10 + size_t(rest_.front() - '0');
      if (*value > kMaxRepeats) return std::nullopt;
      rest_.remove_prefix(1);
    }
    return value;
  }

  std::optional<PatternNode> repeat(PatternNode one) {
    PatternNode node{.kind = Kind::kRepeat, .bytes = {}, .parts = {}};
    if (take("+")) {
      node.least = 1;
    } else if (take("?")) {
      node.most = 1;
    } else if (take("{")) {
      const auto least = number();
      node.least = least.value_or(0);
      node.most = node.least;
      if (take(",")) node.most = number().value_or(SIZE_MAX);
      if (!least || node.most < node.least || !take("}")) return std::nullopt;
    } else if (!take("*")) {
      return one;
    }
    take("?");  // as few as possible: the same names match
    constexpr std::string_view kRepeats = "*+?{";
    if (!rest_.empty() && kRepeats.find(rest_.front()) != kRepeats.npos) return std::nullopt;
    node.parts.push_back(std::move(one));
    return node;
  }

  std::string_view rest_;
};

}  // namespace

Result<ModulePattern> ModulePattern::parse(std::string_view text) {
  auto root = Parser(text).run();
  if (!root || text.empty()) {
    return unsupported(
        "\"{}\" is neither a name of modules nor a regular expression of a known kind.", text);
  }
  ModulePattern pattern;
  pattern.text_ = text;
  pattern.root_ = std::make_shared<const PatternNode>(*std::move(root));
  return pattern;
}

bool ModulePattern::matches(std::string_view module) const {
  Places places(module.size() + 1);
  places[0] = true;
  for (size_t i = 0; i < module.size(); ++i) places[i + 1] = module[i] == '.';
  return ends_of(*root_, module, std::move(places)).back();
}

}  // namespace tokamak
