#include <algorithm>

#include "kernels/cuda/parser_state.h"

namespace tokamak::wgsl {
namespace {

struct Operator {
  std::string_view text;
  int strength;
};
/// The precedences of C. WGSL demands parentheses where the two might differ.
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                                   {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                                   {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
/// In type arguments a > ends the list.
constexpr int kInTypeArguments = 9;

/// The names that may have type arguments. (After a name of the text's own, < is a comparison.)
constexpr std::string_view kGenerics[] = {"vec2",
                                          "vec3",
                                          "vec4",
                                          "mat4x4",
                                          "array",
                                          "atomic",
                                          "binding_array",
                                          "bitcast",
                                          "ptr",
                                          "subgroup_matrix_left",
                                          "subgroup_matrix_right",
                                          "subgroup_matrix_result",
                                          "subgroupMatrixLoad",
                                          "subgroupMatrixStore"};

ExpressionPtr made(Place at, auto&& node) {
  return std::make_unique<Expression>(Expression{at, std::forward<decltype(node)>(node)});
}

}  // namespace

Result<Type> Parser::type() {
  Type type;
  type.at = now().at;
  TOK_TRY(type.name, word("a type"));
  if (is("<")) TOK_TRY(type_arguments(type));
  return type;
}

Result<void> Parser::type_arguments(Type& own) {
  if (std::ranges::count(kGenerics, own.name) == 0) {
    return text_error(pieces_, own.at, fmt::format("\"{}\" has no translation", own.name));
  }
  TOK_TRY(expect("<"));
  if (own.name == "ptr") {
    if (!is("function")) return wrong("a pointer to a variable of a function");
    TOK_TRY(word("an address space"));
    TOK_TRY(expect(","));
  }
  TOK_TRY(Type element, type());
  own.of.push_back(std::move(element));
  while (skip(",")) {
    TOK_TRY(ExpressionPtr value, expression(kInTypeArguments));
    own.values.push_back(std::move(value));
  }
  return expect_close();
}

Result<void> Parser::expect_close() {
  if (!is(">>")) return expect(">");
  tokens_[next_].text.remove_prefix(1);
  return {};
}

Result<ExpressionPtr> Parser::expression(int weakest) {
  TOK_TRY(ExpressionPtr left, unary());
  while (now().kind == TokenKind::kSign) {
    const auto op = std::ranges::find(kOperators, now().text, &Operator::text);
    if (op == std::end(kOperators) || op->strength < weakest) break;
    const Place at = now().at;
    ++next_;
    TOK_TRY(ExpressionPtr right, expression(op->strength + 1));
    left = made(at, Binary{op->text, std::move(left), std::move(right)});
  }
  return left;
}

Result<ExpressionPtr> Parser::unary() {
  const Place at = now().at;
  for (const std::string_view op : {"-", "!", "~", "&", "*"}) {
    if (!skip(op)) continue;
    TOK_TRY(ExpressionPtr operand, unary());
    return made(at, Unary{op, std::move(operand)});
  }
  TOK_TRY(ExpressionPtr object, primary());
  return with_suffixes(std::move(object));
}

Result<ExpressionPtr> Parser::primary() {
  const Token first = now();
  if (skip("(")) {
    TOK_TRY(ExpressionPtr inner, expression());
    TOK_TRY(expect(")"));
    return inner;
  }
  if (first.kind == TokenKind::kNumber) {
    ++next_;
    return made(first.at, Literal{first.text});
  }
  TOK_TRY(const std::string_view name, word("an expression"));
  if (name == "true" || name == "false") return made(first.at, Literal{name});
  Type callee;
  callee.at = first.at;
  callee.name = name;
  const bool is_generic = is("<") && std::ranges::count(kGenerics, name) != 0;
  if (is_generic) TOK_TRY(type_arguments(callee));
  if (!is("(")) {
    if (is_generic) return wrong("\"(\"");
    return made(first.at, Name{name});
  }
  TOK_TRY(std::vector<ExpressionPtr> all, arguments());
  return made(first.at, Call{std::move(callee), std::move(all)});
}

Result<std::vector<ExpressionPtr>> Parser::arguments() {
  std::vector<ExpressionPtr> all;
  TOK_TRY(expect("("));
  while (!skip(")")) {
    TOK_TRY(ExpressionPtr one, expression());
    all.push_back(std::move(one));
    if (!is(")")) TOK_TRY(expect(","));
  }
  return all;
}

Result<ExpressionPtr> Parser::with_suffixes(ExpressionPtr object) {
  while (true) {
    const Place at = now().at;
    if (skip(".")) {
      TOK_TRY(const std::string_view name, word("a member"));
      object = made(at, Member{std::move(object), name});
    } else if (skip("[")) {
      TOK_TRY(ExpressionPtr index, expression());
      TOK_TRY(expect("]"));
      object = made(at, Index{std::move(object), std::move(index)});
    } else {
      return object;
    }
  }
}

}  // namespace tokamak::wgsl
