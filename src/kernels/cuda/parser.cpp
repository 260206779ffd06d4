#include "kernels/cuda/parser.h"

#include "kernels/cuda/parser_state.h"

namespace tokamak::wgsl {

Result<Module> parse(std::span<const ShaderPiece> pieces) {
  TOK_TRY(std::vector<Token> tokens, tokens_of(pieces));
  return Parser(pieces, std::move(tokens)).module();
}

Result<Module> Parser::module() {
  Module module;
  while (now().kind != TokenKind::kEnd) {
    if (skip(";")) continue;
    const Place at = now().at;
    TOK_TRY(Declaration next, declaration());
    next.at = at;
    module.push_back(std::move(next));
  }
  return module;
}

Result<Declaration> Parser::declaration() {
  ExpressionPtr binding, lanes;
  while (skip("@")) {
    if (skip("compute")) continue;
    const bool is_binding = is("binding"), is_lanes = is("workgroup_size");
    if (!is_binding && !is_lanes && !is("group")) return wrong("an attribute of kernels");
    TOK_TRY(word("an attribute"));
    TOK_TRY(expect("("));
    TOK_TRY(ExpressionPtr value, expression());
    TOK_TRY(expect(")"));
    if (is_binding) binding = std::move(value);
    if (is_lanes) lanes = std::move(value);
  }
  if (skip("fn")) {
    TOK_TRY(Function own, function(std::move(lanes)));
    return Declaration{.at = {}, .node = std::move(own)};
  }
  if (skip("var")) {
    TOK_TRY(Variable own, variable(std::move(binding)));
    return Declaration{.at = {}, .node = std::move(own)};
  }
  if (skip("struct")) {
    Struct own;
    TOK_TRY(own.name, word("the name of a struct"));
    TOK_TRY(expect("{"));
    TOK_TRY(own.fields, fields("}"));
    return Declaration{.at = {}, .node = std::move(own)};
  }
  if (skip("alias")) {
    Alias own;
    TOK_TRY(own.name, word("the name of a type"));
    TOK_TRY(expect("="));
    TOK_TRY(own.type, type());
    TOK_TRY(expect(";"));
    return Declaration{.at = {}, .node = std::move(own)};
  }
  if (skip("const_assert")) {
    TOK_TRY(ExpressionPtr condition, expression());
    TOK_TRY(expect(";"));
    return Declaration{.at = {}, .node = Assertion{std::move(condition)}};
  }
  if (!skip("const")) return wrong("a declaration");
  Constant own;
  TOK_TRY(own.name, word("the name of a constant"));
  if (skip(":")) {
    TOK_TRY(own.type, type());
  }
  TOK_TRY(expect("="));
  TOK_TRY(own.value, expression());
  TOK_TRY(expect(";"));
  return Declaration{.at = {}, .node = std::move(own)};
}

Result<Function> Parser::function(ExpressionPtr lanes) {
  Function own;
  own.lanes = std::move(lanes);
  TOK_TRY(own.name, word("the name of a function"));
  TOK_TRY(expect("("));
  TOK_TRY(own.parameters, fields(")"));
  if (skip("->")) {
    TOK_TRY(own.result, type());
  }
  TOK_TRY(own.body, block());
  return own;
}

Result<Variable> Parser::variable(ExpressionPtr binding) {
  Variable own;
  own.binding = std::move(binding);
  TOK_TRY(expect("<"));
  TOK_TRY(own.space, word("where the variable is"));
  if (skip(",")) {
    TOK_TRY(own.access, word("how the variable is accessed"));
  }
  TOK_TRY(expect(">"));
  TOK_TRY(own.name, word("the name of a variable"));
  if (skip(":")) {
    TOK_TRY(own.type, type());
  }
  if (skip("=")) {
    TOK_TRY(own.value, expression());
  }
  TOK_TRY(expect(";"));
  return own;
}

/// The fields of a struct, or parameters, up to and with `end`.
Result<std::vector<Field>> Parser::fields(std::string_view end) {
  std::vector<Field> all;
  while (!skip(end)) {
    Field& field = all.emplace_back();
    if (skip("@")) {
      TOK_TRY(expect("builtin"));
      TOK_TRY(expect("("));
      TOK_TRY(field.builtin, word("a builtin value"));
      TOK_TRY(expect(")"));
    }
    TOK_TRY(field.name, word("a name"));
    TOK_TRY(expect(":"));
    TOK_TRY(field.type, type());
    if (!is(end)) TOK_TRY(expect(","));
  }
  return all;
}

}  // namespace tokamak::wgsl
