#include <algorithm>

#include "kernels/cuda/parser_state.h"

namespace tokamak::wgsl {

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

/// What may also stand in the head of a loop: a declaration, an assignment or a call.
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
  return own;
}

}  // namespace tokamak::wgsl
