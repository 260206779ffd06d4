#include "text/template/expression_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/template/big_integer.h"
#include "text/template/parser.h"

namespace tokamak::jinja {
namespace {

Failure too_deep() {
  return invalid_input("Expressions and blocks nest deeper than {} levels.", kMaxSyntaxDepth);
}

std::vector<const Expr*> children_of(const ArgumentList& arguments) {
  std::vector<const Expr*> all = arguments.positional;
  for (const auto& named : arguments.named) all.push_back(named.second);
  all.push_back(arguments.splat);
  all.push_back(arguments.named_splat);
  return all;
}

}  // namespace

Result<const Expr*> ExpressionParser::make_over(uint32_t line, decltype(Expr::node) node,
                                                const std::vector<const Expr*>& children) {
  uint32_t depth = 0;
  for (const Expr* child : children) {
    if (child != nullptr) depth = std::max(depth, child->depth);
  }
  if (depth >= kMaxSyntaxDepth) return too_deep();
  return &made_.exprs.emplace_back(Expr{.line = line, .depth = depth + 1, .node = std::move(node)});
}

Result<const Expr*> ExpressionParser::make(uint32_t line, decltype(Expr::node) node,
                                           std::initializer_list<const Expr*> children) {
  return make_over(line, std::move(node), std::vector<const Expr*>(children));
}

Result<const Expr*> ExpressionParser::expression(bool allow_conditional) {
  const Level level(depth_);
  if (depth_ > kMaxSyntaxDepth) return too_deep();
  TOK_TRY(const Expr* value, disjunction());
  while (allow_conditional && at_name("if")) {
    const uint32_t at = line();
    skip();
    TOK_TRY(const Expr* condition, disjunction());
    const Expr* otherwise = nullptr;
    if (take_name("else")) {
      TOK_TRY(otherwise, expression());
    }
    TOK_TRY(value,
            make(at, Conditional{condition, value, otherwise}, {condition, value, otherwise}));
  }
  return value;
}

bool ExpressionParser::at_end_of_expressions() const {
  return at_kind(Token::Kind::kCloseOutput) || at_kind(Token::Kind::kCloseBlock) ||
         at_operator(")") || at_operator("=") || at_name("in") || at_name("recursive");
}

Result<const Expr*> ExpressionParser::expressions(bool allow_conditional) {
  const uint32_t at = line();
  TOK_TRY(const Expr* first, expression(allow_conditional));
  if (!at_operator(",")) return first;
  std::vector<const Expr*> items = {first};
  while (take_operator(",") && !at_end_of_expressions()) {
    TOK_TRY(const Expr* item, expression(allow_conditional));
    items.push_back(item);
  }
  return make_over(at, ListLiteral{items, true}, items);
}

Result<const Expr*> ExpressionParser::disjunction() {
  TOK_TRY(const Expr* left, conjunction());
  while (at_name("or")) {
    const uint32_t at = line();
    skip();
    TOK_TRY(const Expr* right, conjunction());
    TOK_TRY(left, make(at, Logical{false, left, right}, {left, right}));
  }
  return left;
}

Result<const Expr*> ExpressionParser::conjunction() {
  TOK_TRY(const Expr* left, negation());
  while (at_name("and")) {
    const uint32_t at = line();
    skip();
    TOK_TRY(const Expr* right, negation());
    TOK_TRY(left, make(at, Logical{true, left, right}, {left, right}));
  }
  return left;
}

Result<const Expr*> ExpressionParser::negation() {
  if (!at_name("not") || is(following(), Token::Kind::kName, "in")) return comparison();
  const Level level(depth_);
  if (depth_ > kMaxSyntaxDepth) return too_deep();
  const uint32_t at = line();
  skip();
  TOK_TRY(const Expr* operand, negation());
  return make(at, Unary{UnaryOp::kNot, operand}, {operand});
}

Result<const Expr*> ExpressionParser::comparison() {
  static constexpr std::pair<std::string_view, CompareOp> kOps[] = {
      {"==", CompareOp::kEqual},     {"!=", CompareOp::kNotEqual}, {"<", CompareOp::kLess},
      {"<=", CompareOp::kLessEqual}, {">", CompareOp::kGreater},   {">=", CompareOp::kGreaterEqual},
  };
  const uint32_t at = line();
  TOK_TRY(const Expr* first, sum());
  Compare compare{first, {}};
  std::vector<const Expr*> children = {first};
  while (true) {
    CompareOp op = CompareOp::kIn;
    const auto* found = std::ranges::find_if(
        kOps, [&](const auto& candidate) { return at_operator(candidate.first); });
    if (found != std::end(kOps)) {
      op = found->second;
    } else if (at_name("not") && is(following(), Token::Kind::kName, "in")) {
      op = CompareOp::kNotIn;
      skip();
    } else if (!at_name("in")) {
      break;
    }
    skip();
    TOK_TRY(const Expr* right, sum());
    compare.rest.emplace_back(op, right);
    children.push_back(right);
  }
  if (compare.rest.empty()) return first;
  return make_over(at, std::move(compare), children);
}

Result<const Expr*> ExpressionParser::sum() {
  TOK_TRY(const Expr* left, concatenation());
  while (at_operator("+") || at_operator("-")) {
    const BinaryOp op = at_operator("+") ? BinaryOp::kAdd : BinaryOp::kSubtract;
    const uint32_t at = line();
    skip();
    TOK_TRY(const Expr* right, concatenation());
    TOK_TRY(left, make(at, Binary{op, left, right}, {left, right}));
  }
  return left;
}

Result<const Expr*> ExpressionParser::concatenation() {
  const uint32_t at = line();
  TOK_TRY(const Expr* first, product());
  if (!at_operator("~")) return first;
  std::vector<const Expr*> parts = {first};
  while (take_operator("~")) {
    TOK_TRY(const Expr* part, product());
    parts.push_back(part);
  }
  return make_over(at, Concat{parts}, parts);
}

Result<const Expr*> ExpressionParser::product() {
  static constexpr std::pair<std::string_view, BinaryOp> kOps[] = {
      {"*", BinaryOp::kMultiply},
      {"/", BinaryOp::kDivide},
      {"//", BinaryOp::kFloorDivide},
      {"%", BinaryOp::kModulo},
  };
  TOK_TRY(const Expr* left, power());
  while (true) {
    const auto* found = std::ranges::find_if(
        kOps, [&](const auto& candidate) { return at_operator(candidate.first); });
    if (found == std::end(kOps)) return left;
    const uint32_t at = line();
    skip();
    TOK_TRY(const Expr* right, power());
    TOK_TRY(left, make(at, Binary{found->second, left, right}, {left, right}));
  }
}

Result<const Expr*> ExpressionParser::power() {
  TOK_TRY(const Expr* left, unary(true));
  while (at_operator("**")) {
    const uint32_t at = line();
    skip();
    TOK_TRY(const Expr* right, unary(true));
    TOK_TRY(left, make(at, Binary{BinaryOp::kPower, left, right}, {left, right}));
  }
  return left;
}

Result<const Expr*> ExpressionParser::unary(bool with_filters) {
  const Level level(depth_);
  if (depth_ > kMaxSyntaxDepth) return too_deep();
  const uint32_t at = line();
  const Expr* value = nullptr;
  if (at_operator("-") || at_operator("+")) {
    const UnaryOp op = at_operator("-") ? UnaryOp::kMinus : UnaryOp::kPlus;
    skip();
    TOK_TRY(const Expr* operand, unary(false));
    TOK_TRY(value, make(at, Unary{op, operand}, {operand}));
  } else {
    TOK_TRY(value, primary());
  }
  TOK_TRY(value, postfix(value));
  if (!with_filters) return value;
  return filters_and_tests(value);
}

Result<const Expr*> ExpressionParser::primary() {
  if (at_kind(Token::Kind::kName)) return literal_name();
  if (at_kind(Token::Kind::kString)) return string();
  if (at_kind(Token::Kind::kInteger) || at_kind(Token::Kind::kFloat)) return number();
  if (at_operator("(")) return parenthesised();
  if (at_operator("[")) return list();
  if (at_operator("{")) return dict();
  return expected("an expression");
}

Result<const Expr*> ExpressionParser::literal_name() {
  const uint32_t at = line();
  TOK_TRY(const std::string_view name, expect_name());
  if (name == "true" || name == "True") return make(at, Literal{Value::boolean(true)}, {});
  if (name == "false" || name == "False") return make(at, Literal{Value::boolean(false)}, {});
  if (name == "none" || name == "None") return make(at, Literal{Value::none()}, {});
  special_.varargs = special_.varargs || name == "varargs";
  special_.kwargs = special_.kwargs || name == "kwargs";
  special_.caller = special_.caller || name == "caller";
  return make(at, Name{name}, {});
}

Result<const Expr*> ExpressionParser::string() {
  const uint32_t at = line();
  std::string text;
  while (at_kind(Token::Kind::kString)) {  // neighbours are one string
    text += current().text;
    skip();
  }
  return make(at, Literal{Value::text(&made_.strings.emplace_back(std::move(text)))}, {});
}

Result<const Expr*> ExpressionParser::number() {
  const uint32_t at = line();
  const std::string& text = current().text;
  const char* last = text.data() + text.size();
  Value value;
  if (at_kind(Token::Kind::kFloat)) {
    double number = 0;
    const auto read = std::from_chars(text.data(), last, number);
    if (read.ec != std::errc() || read.ptr != last || !std::isfinite(number)) {
      return invalid_input("The number {} is out of range.", text.substr(0, 40));
    }
    value = Value::number(number);
  } else {
    const char kind = text.size() > 2 && text[0] == '0' ? char(text[1] | 0x20) : '\0';
    const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    int64_t number = 0;
    const auto read = std::from_chars(text.data() + (base == 10 ? 0 : 2), last, number, base);
    const std::optional<std::string> digits = base == 10 ? plain_digits(text) : std::nullopt;
    if (read.ec == std::errc::result_out_of_range && digits) {
      skip();
      const std::string& held = made_.strings.emplace_back(*digits);
      return make(at, Literal{Value::big_integer(&held)}, {});
    }
    if (read.ec != std::errc() || read.ptr != last) {
      return invalid_input("The number {} is malformed or does not fit into 64 bits.",
                           text.substr(0, 40));
    }
    value = Value::integer(number);
  }
  skip();
  return make(at, Literal{value}, {});
}

Result<const Expr*> ExpressionParser::parenthesised() {
  const uint32_t at = line();
  skip();
  if (take_operator(")")) return make(at, ListLiteral{{}, true}, {});
  TOK_TRY(const Expr* inner, expressions());
  TOK_TRY(expect_operator(")"));
  return inner;
}

Result<const Expr*> ExpressionParser::list() {
  const uint32_t at = line();
  skip();
  std::vector<const Expr*> items;
  while (!take_operator("]")) {
    if (!items.empty()) TOK_TRY(expect_operator(","));
    if (take_operator("]")) break;
    TOK_TRY(const Expr* item, expression());
    items.push_back(item);
  }
  return make_over(at, ListLiteral{items, false}, items);
}

Result<const Expr*> ExpressionParser::dict() {
  const uint32_t at = line();
  skip();
  DictLiteral dict;
  std::vector<const Expr*> children;
  while (!take_operator("}")) {
    if (!dict.items.empty()) TOK_TRY(expect_operator(","));
    if (take_operator("}")) break;
    TOK_TRY(const Expr* key, expression());
    TOK_TRY(expect_operator(":"));
    TOK_TRY(const Expr* value, expression());
    dict.items.emplace_back(key, value);
    children.push_back(key);
    children.push_back(value);
  }
  return make_over(at, std::move(dict), children);
}

Result<const Expr*> ExpressionParser::postfix(const Expr* inner) {
  while (true) {
    if (at_operator(".")) {
      TOK_TRY(inner, attribute(inner));
    } else if (at_operator("[")) {
      TOK_TRY(inner, subscript(inner));
    } else if (at_operator("(")) {
      TOK_TRY(inner, call(inner));
    } else {
      return inner;
    }
  }
}

Result<const Expr*> ExpressionParser::attribute(const Expr* inner) {
  const uint32_t at = line();
  skip();
  if (at_kind(Token::Kind::kInteger)) {
    TOK_TRY(const Expr* index, number());
    return make(at, Subscript{inner, index}, {inner, index});
  }
  TOK_TRY(const std::string_view name, expect_name());
  return make(at, Attribute{inner, name}, {inner});
}

Result<const Expr*> ExpressionParser::subscript(const Expr* inner) {
  const uint32_t at = line();
  skip();
  const Expr* parts[3] = {};
  size_t count = 0;  // colons seen
  while (!at_operator("]")) {
    if (take_operator(":")) {
      if (++count == 3) return expected("\"]\"");
      continue;
    }
    if (parts[count] != nullptr) return expected("\"]\"");
    TOK_TRY(parts[count], count == 0 ? expressions() : expression());
  }
  if (count == 0 && parts[0] == nullptr) return expected("an expression");
  skip();
  if (count == 0) return make(at, Subscript{inner, parts[0]}, {inner, parts[0]});
  return make(at, Slice{inner, parts[0], parts[1], parts[2]},
              {inner, parts[0], parts[1], parts[2]});
}

Result<const Expr*> ExpressionParser::call(const Expr* inner) {
  const uint32_t at = line();
  TOK_TRY(ArgumentList all, arguments());
  std::vector<const Expr*> children = children_of(all);
  children.push_back(inner);
  return make_over(at, Call{inner, std::move(all)}, children);
}

Result<ArgumentList> ExpressionParser::arguments() {
  TOK_TRY(expect_operator("("));
  ArgumentList all;
  bool first = true;
  while (!take_operator(")")) {
    if (!first) TOK_TRY(expect_operator(","));
    if (take_operator(")")) break;
    first = false;
    if (take_operator("**")) {
      if (all.named_splat != nullptr) return expected("a single \"**\" argument");
      TOK_TRY(all.named_splat, expression());
    } else if (take_operator("*")) {
      if (all.splat != nullptr) return expected("a single \"*\" argument");
      TOK_TRY(all.splat, expression());
    } else if (at_kind(Token::Kind::kName) && is(following(), Token::Kind::kOperator, "=")) {
      TOK_TRY(const std::string_view name, expect_name());
      skip();
      TOK_TRY(const Expr* value, expression());
      all.named.emplace_back(name, value);
    } else {
      if (!all.named.empty() || all.named_splat != nullptr) {
        return invalid_input("A positional argument follows a named one.");
      }
      TOK_TRY(const Expr* value, expression());
      all.positional.push_back(value);
    }
  }
  return all;
}

Result<const Expr*> ExpressionParser::filters_and_tests(const Expr* inner) {
  while (true) {
    const uint32_t at = line();
    if (take_operator("|")) {
      TOK_TRY(FilterCall filter, filter_call());
      std::vector<const Expr*> children = children_of(filter.arguments);
      children.push_back(inner);
      TOK_TRY(inner, make_over(at, Filtered{inner, std::move(filter)}, children));
    } else if (at_name("is")) {
      TOK_TRY(inner, test(inner));
    } else if (at_operator("(")) {
      TOK_TRY(inner, call(inner));
    } else {
      return inner;
    }
  }
}

Result<FilterCall> ExpressionParser::filter_call() {
  TOK_TRY(const std::string_view name, expect_name());
  FilterCall filter{name, {}};
  if (at_operator("(")) {
    TOK_TRY(filter.arguments, arguments());
  }
  return filter;
}

Result<std::vector<FilterCall>> ExpressionParser::filters() {
  std::vector<FilterCall> all;
  while (take_operator("|")) {
    TOK_TRY(FilterCall filter, filter_call());
    all.push_back(std::move(filter));
  }
  return all;
}

bool ExpressionParser::at_test_argument() const {
  if (at_kind(Token::Kind::kName)) {
    return !at_name("else") && !at_name("or") && !at_name("and") && !at_name("if") &&
           !at_name("in") && !at_name("not");
  }
  return at_kind(Token::Kind::kString) || at_kind(Token::Kind::kInteger) ||
         at_kind(Token::Kind::kFloat) || at_operator("[") || at_operator("{");
}

Result<const Expr*> ExpressionParser::test(const Expr* inner) {
  const uint32_t at = line();
  skip();
  const bool negated = take_name("not");
  TOK_TRY(const std::string_view name, expect_name());
  Tested tested{inner, name, {}};
  if (at_operator("(")) {
    TOK_TRY(tested.arguments, arguments());
  } else if (at_name("is")) {
    return invalid_input("Tests with \"is\" cannot be chained.");
  } else if (at_test_argument()) {
    TOK_TRY(const Expr* argument, primary());
    TOK_TRY(argument, postfix(argument));
    tested.arguments.positional.push_back(argument);
  }
  std::vector<const Expr*> children = children_of(tested.arguments);
  children.push_back(inner);
  TOK_TRY(const Expr* made, make_over(at, std::move(tested), children));
  if (!negated) return made;
  return make(at, Unary{UnaryOp::kNot, made}, {made});
}

}  // namespace tokamak::jinja
