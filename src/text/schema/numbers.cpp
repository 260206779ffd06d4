#include "text/schema/numbers.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "text/grammar/regular_expression.h"

namespace tokamak::schema {
namespace {

constexpr size_t kMaxDigits = 400;  // the largest double has 309
constexpr uint32_t kMaxDivisor = 10000;

Automaton made(std::string_view expression) {
  auto automaton = grammar::automaton_of(expression, grammar::Match::kWhole);
  TOK_CHECK(automaton.has_value());
  return *std::move(automaton);
}

std::string digits(char first, char last) {
  return first > last ? "[]" : fmt::format("[{}-{}]", first, last);
}

/// Expression for the numbers without a sign that are above (or below) one, and perhaps the same.
std::string beyond(const Decimal& value, bool above, Border border) {
  const std::string& whole = value.whole;
  const std::string& part = value.fraction;
  const std::string fraction = R"((\.[0-9]+)?)";
  std::vector<std::string> ways;
  const size_t count = whole.size();
  if (above) {
    ways.push_back(whole == "0" ? "[1-9][0-9]*" + fraction
                                : fmt::format("[1-9][0-9]{{{},}}{}", count, fraction));
  } else if (count > 1) {
    ways.push_back(fmt::format("(0|[1-9][0-9]{{0,{}}}){}", count - 2, fraction));
  }
  if (!above || whole != "0") {
    for (size_t i = 0; i < count; ++i) {
      const char smallest = i == 0 && count > 1 ? '1' : '0';
      const char d = whole[i];
      const std::string other =
          above ? digits(std::max(char(d + 1), smallest), '9') : digits(smallest, char(d - 1));
      ways.push_back(
          fmt::format("{}{}[0-9]{{{}}}{}", whole.substr(0, i), other, count - i - 1, fraction));
    }
  }
  const bool same = border == Border::kIncluded;
  const std::string start = whole + R"(\.)";
  if (above) {
    if (part.empty()) {
      ways.push_back(whole + (same ? fraction : R"(\.0*[1-9][0-9]*)"));
    } else {
      for (size_t i = 0; i < part.size(); ++i) {
        ways.push_back(start + part.substr(0, i) + digits(char(part[i] + 1), '9') + "[0-9]*");
      }
      ways.push_back(start + part + (same ? "[0-9]*" : "[0-9]*[1-9][0-9]*"));
    }
  } else {
    if (same || !part.empty()) ways.push_back(whole + (part.empty() ? R"((\.0+)?)" : ""));
    for (size_t i = 0; i < part.size(); ++i) {
      ways.push_back(start + part.substr(0, i) + digits('0', char(part[i] - 1)) + "[0-9]*");
      if (i > 0) ways.push_back(start + part.substr(0, i));
    }
    if (same && !part.empty()) ways.push_back(start + part + "0*");
  }
  return fmt::format("({})", fmt::join(ways, "|"));
}

Automaton negative(const std::string& expression) {
  // Zero has no sign.
  const auto signed_numbers = made("-" + expression);
  const auto zeros = made(R"(-0(\.0*)?)");
  return *grammar::difference(signed_numbers, zeros);
}

constexpr std::string_view kUnsigned = R"((0|[1-9][0-9]*)(\.[0-9]+)?)";

}  // namespace

Result<Decimal> decimal_of(const Json& value) {
  std::string text;
  if (value.is_integer()) {
    text = fmt::format("{}", value.as_integer());
  } else if (value.is_big_integer()) {
    text = value.as_big_integer().digits;
  } else {
    text = fmt::format("{}", value.as_number());
  }
  Decimal made;
  std::string_view rest = text;
  made.is_negative = rest.starts_with('-');
  if (made.is_negative) rest.remove_prefix(1);
  int exponent = 0;
  const size_t e = rest.find('e');
  if (e != rest.npos) {
    std::string_view power = rest.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    std::from_chars(power.data(), power.data() + power.size(), exponent);
    rest = rest.substr(0, e);
  }
  const size_t point = rest.find('.');
  std::string all(rest.substr(0, point));
  int places = 0;
  if (point != rest.npos) {
    all += rest.substr(point + 1);
    places = int(rest.size() - point - 1);
  }
  if (!std::ranges::all_of(all, [](char c) { return c >= '0' && c <= '9'; })) {
    return invalid_input("{} is no finite number", text);
  }
  places -= exponent;
  if (places < 0) all.append(size_t(-places), '0');
  places = std::max(places, 0);
  if (all.size() <= size_t(places)) all.insert(0, size_t(places) + 1 - all.size(), '0');
  made.whole = all.substr(0, all.size() - size_t(places));
  made.fraction = all.substr(all.size() - size_t(places));
  made.whole.erase(0, std::min(made.whole.find_first_not_of('0'), made.whole.size() - 1));
  made.fraction.erase(made.fraction.find_last_not_of('0') + 1);
  if (made.whole == "0" && made.fraction.empty()) made.is_negative = false;
  if (made.whole.size() + made.fraction.size() > kMaxDigits) {
    return unsupported("{} has more than {} digits", text.substr(0, 40), kMaxDigits);
  }
  return made;
}

const Automaton& all_numbers() {
  static const Automaton numbers =
      *grammar::united(made(kUnsigned), negative(std::string(kUnsigned)));
  return numbers;
}

const Automaton& integers() {
  static const Automaton numbers = made("0|-?[1-9][0-9]*");
  return numbers;
}

const Automaton& whole_numbers() {
  static const Automaton numbers = made(R"((0|-?[1-9][0-9]*)(\.0+)?)");
  return numbers;
}

Automaton at_least(const Decimal& value, Border border) {
  if (value.is_negative) {
    return *grammar::united(made(kUnsigned), negative(beyond(value, false, border)));
  }
  return made(beyond(value, true, border));
}

Automaton at_most(const Decimal& value, Border border) {
  if (value.is_negative) return negative(beyond(value, true, border));
  return *grammar::united(negative(std::string(kUnsigned)), made(beyond(value, false, border)));
}

Automaton equal_to(const Decimal& value) {
  return made(fmt::format(
      "{}{}{}", value.is_negative ? "-" : "", value.whole,
      value.fraction.empty() ? R"((\.0+)?)" : fmt::format(R"(\.{}0*)", value.fraction)));
}

/// The digits so far, as a number, leave a remainder; after the point only as many digits count as
/// the divisor has.
AutomatonOr multiples_of(const Decimal& value) {
  const std::string text = value.whole + value.fraction;
  uint32_t divisor = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), divisor);
  if (read.ec != std::errc() || divisor == 0 || divisor > kMaxDivisor) return {};
  const auto places = uint32_t(value.fraction.size());
  if (uint64_t{divisor} * (places + 2) > Automaton::kMaxStates) return {};
  // States: the remainder of the whole part; that with each number of digits of the fraction;
  // only zeros from there on.
  std::vector<Automaton::State> states(size_t{divisor} * (places + 2) + 1);
  const auto zeros = uint32_t(states.size() - 1);
  states[zeros] = {.accepts = true, .edges = {{'0', '0', zeros}}};
  for (uint32_t row = 0; row < places + 2; ++row) {
    const uint32_t read_digits = row == 0 ? 0 : row - 1;
    uint64_t scale = 1;
    for (uint32_t i = read_digits; i < places; ++i) scale = scale * 10 % divisor;
    for (uint32_t rest = 0; rest < divisor; ++rest) {
      Automaton::State& state = states[row * divisor + rest];
      state.accepts = rest * scale % divisor == 0;
      if (row == 0) state.edges.push_back({'.', '.', divisor + rest});
      for (uint32_t digit = 0; digit < 10; ++digit) {
        const auto c = char32_t(U'0' + digit);
        const uint32_t next = (rest * 10 + digit) % divisor;
        if (row == 0 || read_digits < places) {
          state.edges.push_back({c, c, (row == 0 ? 0 : row + 1) * divisor + next});
        } else if (digit == 0 && state.accepts) {
          state.edges.push_back({c, c, zeros});
        }
      }
    }
  }
  const auto any_digits = Automaton(std::move(states));
  const AutomatonOr positive = grammar::intersection(any_digits, made(kUnsigned));
  if (!positive) return {};
  std::vector<Automaton::State> with_sign(1);
  with_sign[0].edges = {{'-', '-', 1}};
  for (Automaton::State state : positive->states()) {
    for (auto& edge : state.edges) ++edge.next;
    with_sign.push_back(std::move(state));
  }
  const AutomatonOr both = grammar::united(*positive, Automaton(std::move(with_sign)));
  return both ? grammar::intersection(*both, all_numbers()) : AutomatonOr();
}

}  // namespace tokamak::schema
