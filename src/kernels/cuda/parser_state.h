// The part that sections of the parser share: a place among the tokens, and the grammar's rules.
#pragma once
#include <span>
#include <vector>

#include "kernels/cuda/lexer.h"

namespace tokamak::wgsl {

class Parser {
 public:
  Parser(std::span<const ShaderPiece> pieces, std::vector<Token> tokens)
      : pieces_(pieces), tokens_(std::move(tokens)) {}

  Result<Module> module();

 private:
  // parser.cpp: declarations
  Result<Declaration> declaration();
  Result<Function> function(ExpressionPtr lanes);
  Result<Variable> variable(ExpressionPtr binding);
  Result<std::vector<Field>> fields(std::string_view end);
  // parser_statements.cpp
  Result<Block> block();
  Result<Statement> statement();
  Result<Statement> simple_statement();
  Result<Declare> declare();
  Result<If> conditional();
  Result<For> loop();
  Result<void> check_unrolled(const For& own, Place at) const;
  // parser_expressions.cpp
  Result<Type> type();
  Result<void> type_arguments(Type& type);
  Result<ExpressionPtr> expression(int weakest = 0);
  Result<ExpressionPtr> unary();
  Result<ExpressionPtr> primary();
  Result<ExpressionPtr> with_suffixes(ExpressionPtr object);
  Result<std::vector<ExpressionPtr>> arguments();

  const Token& now() const { return tokens_[next_]; }
  bool is(std::string_view text) const {
    return now().kind != TokenKind::kEnd && now().kind != TokenKind::kUnroll && now().text == text;
  }
  /// Goes on if `text` stands here.
  bool skip(std::string_view text) {
    if (!is(text)) return false;
    ++next_;
    return true;
  }
  Result<void> expect(std::string_view text) {
    if (skip(text)) return {};
    return wrong(fmt::format("\"{}\"", text));
  }
  Result<std::string_view> word(std::string_view what) {
    if (now().kind != TokenKind::kWord) return wrong(what);
    return tokens_[next_++].text;
  }
  /// A ">" that ends type arguments, also as the first half of ">>".
  Result<void> expect_close();
  Failure wrong(std::string_view expected) const {
    return text_error(pieces_, now().at,
                      fmt::format("expected {}, found \"{}\"", expected, now().text));
  }

  std::span<const ShaderPiece> pieces_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
};

}  // namespace tokamak::wgsl
