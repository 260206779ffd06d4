// The part that both halves of the parser share: the tokens' place, the nodes made, the depth.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/template/ast.h"
#include "text/template/lexer.h"

namespace tokamak::jinja {

class TokenReader {
 public:
  TokenReader(std::vector<Token> tokens, Template& made)
      : made_(made), tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  uint32_t line() const { return current().line; }

 protected:
  const Token& following() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  void skip() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  static bool is(const Token& token, Token::Kind kind, std::string_view text) {
    return token.kind == kind && token.text == text;
  }
  bool at_kind(Token::Kind kind) const { return current().kind == kind; }
  bool at_name(std::string_view name) const { return is(current(), Token::Kind::kName, name); }
  bool at_operator(std::string_view op) const { return is(current(), Token::Kind::kOperator, op); }
  bool take_name(std::string_view name) {
    const bool found = at_name(name);
    if (found) skip();
    return found;
  }
  bool take_operator(std::string_view op) {
    const bool found = at_operator(op);
    if (found) skip();
    return found;
  }
  Result<void> expect_operator(std::string_view op) {
    if (take_operator(op)) return {};
    return expected(fmt::format("\"{}\"", op));
  }
  Result<std::string_view> expect_name() {
    if (!at_kind(Token::Kind::kName)) return expected("a name");
    const std::string_view name = keep(current().text);
    skip();
    return name;
  }
  Failure expected(std::string_view what) const {
    return invalid_input("Found {} where {} is expected.", describe(current()), what);
  }

  std::string_view keep(std::string_view text) { return made_.strings.emplace_back(text); }

  /// One level of nesting, as long as it lives.
  class Level {
   public:
    explicit Level(uint32_t& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    uint32_t& depth_;
  };

  Template& made_;
  uint32_t depth_ = 0;

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace tokamak::jinja
