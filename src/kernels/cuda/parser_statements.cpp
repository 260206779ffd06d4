#include <algorithm>

#include "kernels/cuda/parser_state.h"

namespace tokamak::wgsl {
namespace {

bool is_name(const ExpressionPtr& expression, std::string_view name) {
  const auto* own = expression == nullptr ? nullptr : std::get_if<Name>(&expression->node);
  return own != nullptr && own->text == name;
}

/// A number of rounds that is known before the kernel runs: "4u", or a constant.
bool is_count(const ExpressionPtr& expression) {
  if (std::holds_alternative<Name>(expression->node)) return true;
  const auto* number = std::get_if<Literal>(&expression->node);
  return number != nullptr && number->text.ends_with('u') &&
         number->text.find_first_not_of("0123456789") + 1 == number->text.size();
}

/// Whether it leaves the loop that it stands in, or a round of it.
bool has_jump(const Block& block) {
  return std::ranges::any_of(block, [](const Statement& one) {
    if (const auto* own = std::get_if<Nested>(&one.node)) return has_jump(*own->body);
    if (const auto* own = std::get_if<If>(&one.node)) {
      return has_jump(*own->then) || (own->otherwise != nullptr && has_jump(*own->otherwise));
    }
    return std::holds_alternative<Jump>(one.node);
  });
}

}  // namespace

Result<Block> Parser::block() {
  TOK_TRY(expect("{"));
  Block statements;
  while (!skip("}")) {
    if (skip(";")) continue;
    const Place at = now().at;
    TOK_TRY(Statement next, statement());
    next.at = at;
    statements.push_back(std::move(next));
  }
  return statements;
}

Result<Statement> Parser::statement() {
  if (is("{")) {
    TOK_TRY(Block body, block());
    return Statement{{}, Nested{std::make_unique<Block>(std::move(body))}};
  }
  if (skip("if")) {
    TOK_TRY(If own, conditional());
    return Statement{{}, std::move(own)};
  }
  if (skip("for")) {
    TOK_TRY(For own, loop());
    return Statement{{}, std::move(own)};
  }
  if (skip("return")) {
    Return own;
    if (!is(";")) {
      TOK_TRY(own.value, expression());
    }
    TOK_TRY(expect(";"));
    return Statement{{}, std::move(own)};
  }
  if (is("break") || is("continue")) {
    TOK_TRY(const std::string_view jump, word("a jump"));
    TOK_TRY(expect(";"));
    return Statement{{}, Jump{jump}};
  }
  TOK_TRY(Statement own, simple_statement());
  TOK_TRY(expect(";"));
  return own;
}

/// A statement that may also stand in the head of a loop: a declaration, an assignment or a call.
Result<Statement> Parser::simple_statement() {
  if (is("let") || is("var") || is("const")) {
    TOK_TRY(Declare own, declare());
    return Statement{{}, std::move(own)};
  }
  static constexpr std::string_view kAssignments[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  TOK_TRY(ExpressionPtr target, unary());
  Assign own;
  own.op = now().text;
  if (is("++") || is("--")) {
    ++next_;
  } else if (now().kind == TokenKind::kSign && std::ranges::count(kAssignments, own.op) != 0) {
    ++next_;
    TOK_TRY(own.value, expression());
  } else if (std::holds_alternative<Call>(target->node)) {
    return Statement{{}, Evaluate{std::move(target)}};
  } else {
    return wrong("an assignment or a call");
  }
  own.target = std::move(target);
  return Statement{{}, std::move(own)};
}

Result<Declare> Parser::declare() {
  Declare own;
  own.kind = is("let")   ? Declare::Kind::kLet
             : is("var") ? Declare::Kind::kVar
                         : Declare::Kind::kConst;
  ++next_;
  TOK_TRY(own.name, word("a name"));
  if (skip(":")) {
    TOK_TRY(own.type, type());
  }
  if (skip("=")) {
    TOK_TRY(own.value, expression());
  }
  return own;
}

Result<If> Parser::conditional() {
  If own;
  TOK_TRY(own.condition, expression());
  TOK_TRY(Block then, block());
  own.then = std::make_unique<Block>(std::move(then));
  if (!skip("else")) return own;
  Block otherwise;
  if (is("if")) {
    const Place at = now().at;
    ++next_;
    TOK_TRY(If next, conditional());
    otherwise.push_back(Statement{at, std::move(next)});
  } else {
    TOK_TRY(otherwise, block());
  }
  own.otherwise = std::make_unique<Block>(std::move(otherwise));
  return own;
}

Result<For> Parser::loop() {
  For own;
  TOK_TRY(expect("("));
  const Place at = now().at;
  TOK_TRY(Statement begin, simple_statement());
  begin.at = at;
  TOK_TRY(expect(";"));
  TOK_TRY(own.condition, expression());
  TOK_TRY(expect(";"));
  TOK_TRY(Statement step, simple_statement());
  step.at = at;
  TOK_TRY(expect(")"));
  own.begin = std::make_unique<Statement>(std::move(begin));
  own.step = std::make_unique<Statement>(std::move(step));
  // The remark stands after the brace; seen from here that is a token too far.
  if (is("{") && tokens_[next_ + 1].kind == TokenKind::kUnroll) {
    own.unrolling = {true, tokens_[next_ + 1].text};
    tokens_[next_ + 1] = tokens_[next_];
    ++next_;
  }
  TOK_TRY(Block body, block());
  own.body = std::make_unique<Block>(std::move(body));
  if (own.unrolling.is_wanted) TOK_TRY(check_unrolled(own, at));
  return own;
}

/// unroll_loops(), which writes the rounds of WGSL as text, takes loops of this form alone, and a
/// jump would leave the loop around it.
Result<void> Parser::check_unrolled(const For& own, Place at) const {
  const auto* index = std::get_if<Declare>(&own.begin->node);
  const auto* first = index == nullptr || index->value == nullptr
                          ? nullptr
                          : std::get_if<Literal>(&index->value->node);
  const auto* below = std::get_if<Binary>(&own.condition->node);
  const auto* step = std::get_if<Assign>(&own.step->node);
  const bool is_counted = first != nullptr && first->text == "0u" && index->type.name.empty() &&
                          below != nullptr && below->op == "<" &&
                          is_name(below->left, index->name) && is_count(below->right) &&
                          step != nullptr && step->op == "++" && is_name(step->target, index->name);
  if (!is_counted) {
    return text_error(pieces_, at,
                      "a loop is unrolled that is not for (var i = 0u; i < COUNT; i++), COUNT a "
                      "number or a constant");
  }
  if (has_jump(*own.body)) {
    return text_error(pieces_, at, "a loop is unrolled that has a break or a continue");
  }
  return {};
}

}  // namespace tokamak::wgsl
