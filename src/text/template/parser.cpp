#include "text/template/parser.h"

#include <algorithm>

#include "text/template/expression_parser.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

/// The statements: everything between "{%" and "%}".
class Parser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Result<Block> whole() {
    TOK_TRY(Block body, block({}));
    if (!at_kind(Token::Kind::kEnd)) return unexpected_tag();
    return body;
  }

 private:
  using Names = std::initializer_list<std::string_view>;

  bool at_any(Names names) const {
    return at_kind(Token::Kind::kName) &&
           std::ranges::find(names, std::string_view(current().text)) != names.end();
  }

  /// Statements up to a tag that begins with one of `ends`; the reader is then at that name. With
  /// no `ends`, up to a tag that begins no statement or up to the end.
  Result<Block> block(Names ends) {
    const Level level(depth_);
    if (depth_ > kMaxSyntaxDepth) {
      return invalid_input("Expressions and blocks nest deeper than {} levels.", kMaxSyntaxDepth);
    }
    Block body;
    while (!at_kind(Token::Kind::kEnd)) {
      const uint32_t at = line();
      if (at_kind(Token::Kind::kText)) {
        body.push_back(make_stmt(at, Text{keep(current().text)}));
        skip();
      } else if (at_kind(Token::Kind::kOpenOutput)) {
        skip();
        TOK_TRY(const Expr* expr, expressions());
        if (!at_kind(Token::Kind::kCloseOutput)) return expected("\"}}\"");
        skip();
        body.push_back(make_stmt(at, Output{expr}));
      } else {
        skip();  // "{%"
        if (at_any(ends)) return body;
        if (!at_kind(Token::Kind::kName)) return expected("the name of a statement");
        TOK_TRY(const Stmt* made, statement(at));
        body.push_back(made);
      }
    }
    if (ends.size() > 0) {
      return invalid_input("The template ends where \"{{% {} %}}\" is expected.",
                           *(ends.end() - 1));
    }
    return body;
  }

  Result<void> close() {
    if (!at_kind(Token::Kind::kCloseBlock)) return expected("\"%}\"");
    skip();
    return {};
  }

  /// After the opening tag: "%}", the statements, and the tag `end`.
  Result<Block> body_until(std::string_view end) {
    TOK_TRY(close());
    TOK_TRY(Block body, block({end}));
    skip();
    TOK_TRY(close());
    return body;
  }

  const Stmt* make_stmt(uint32_t at, decltype(Stmt::node) node) {
    return &made_.stmts.emplace_back(Stmt{.line = at, .node = std::move(node)});
  }

  Failure unexpected_tag() const {
    return invalid_input("The statement \"{}\" is not known here.", current().text);
  }

  Result<const Stmt*> statement(uint32_t at) {
    if (take_name("if")) return if_statement(at);
    if (take_name("for")) return for_statement(at);
    if (take_name("set")) return set_statement(at);
    if (take_name("macro")) return macro_statement(at);
    if (take_name("call")) return call_statement(at);
    if (take_name("filter")) return filter_statement(at);
    if (take_name("with")) return with_statement(at);
    if (take_name("generation")) return group(at, "endgeneration");
    if (at_name("break") || at_name("continue")) {
      if (loops_ == 0) {
        return invalid_input("The statement \"{}\" stands outside of a loop.", current().text);
      }
      const bool is_break = at_name("break");
      skip();
      TOK_TRY(close());
      return is_break ? make_stmt(at, Break{}) : make_stmt(at, Continue{});
    }
    if (at_any({"include", "import", "from", "extends", "block", "do", "autoescape", "trans"})) {
      return invalid_input("The statement \"{}\" is not supported in chat templates.",
                           current().text);
    }
    return unexpected_tag();
  }

  Result<const Stmt*> group(uint32_t at, std::string_view end) {
    TOK_TRY(Block body, body_until(end));
    return make_stmt(at, Group{std::move(body)});
  }

  Result<const Stmt*> if_statement(uint32_t at) {
    If made;
    while (true) {
      TOK_TRY(const Expr* condition, expressions(false));
      TOK_TRY(close());
      TOK_TRY(Block body, block({"elif", "else", "endif"}));
      made.branches.emplace_back(condition, std::move(body));
      if (take_name("elif")) continue;
      if (take_name("else")) {
        TOK_TRY(made.otherwise, body_until("endif"));
      } else {
        skip();  // endif
        TOK_TRY(close());
      }
      return make_stmt(at, std::move(made));
    }
  }

  Result<const Stmt*> for_statement(uint32_t at) {
    For made;
    TOK_TRY(made.target, targets());
    if (!take_name("in")) return expected("\"in\"");
    TOK_TRY(made.iterable, expressions(false));
    made.filter = nullptr;
    if (take_name("if")) {
      TOK_TRY(made.filter, expression());
    }
    made.recursive = take_name("recursive");
    TOK_TRY(close());
    ++loops_;
    auto body = block({"else", "endfor"});
    --loops_;
    TOK_TRY(made.body, std::move(body));
    if (take_name("else")) {
      TOK_TRY(made.otherwise, body_until("endfor"));
    } else {
      skip();
      TOK_TRY(close());
    }
    return make_stmt(at, std::move(made));
  }

  Result<Target> target() {
    const Level level(depth_);
    if (depth_ > kMaxSyntaxDepth) return invalid_input("The targets nest too deep.");
    Target made;
    if (take_operator("(")) {
      TOK_TRY(made, targets());
      TOK_TRY(expect_operator(")"));
      return made;
    }
    if (at_any({"true", "false", "none", "True", "False", "None", "not", "and", "or", "in"})) {
      return invalid_input("\"{}\" cannot be assigned to.", current().text);
    }
    TOK_TRY(made.name, expect_name());
    if (take_operator(".")) {
      TOK_TRY(made.attribute, expect_name());
    }
    return made;
  }

  /// One target or several with commas between them.
  Result<Target> targets() {
    TOK_TRY(Target first, target());
    if (!at_operator(",")) return first;
    Target all;
    all.parts.push_back(std::move(first));
    while (take_operator(",")) {
      if (!at_kind(Token::Kind::kName) && !at_operator("(")) break;
      if (at_name("in")) break;
      TOK_TRY(Target next, target());
      all.parts.push_back(std::move(next));
    }
    return all;
  }

  Result<const Stmt*> set_statement(uint32_t at) {
    TOK_TRY(Target into, targets());
    if (take_operator("=")) {
      TOK_TRY(const Expr* value, expressions());
      TOK_TRY(close());
      return make_stmt(at, Set{std::move(into), value});
    }
    SetBlock made;
    made.target = std::move(into);
    TOK_TRY(made.filters, filters());
    TOK_TRY(made.body, body_until("endset"));
    return make_stmt(at, std::move(made));
  }

  Result<std::vector<Parameter>> parameters() {
    std::vector<Parameter> all;
    TOK_TRY(expect_operator("("));
    while (!take_operator(")")) {
      if (!all.empty()) TOK_TRY(expect_operator(","));
      if (take_operator(")")) break;
      TOK_TRY(const std::string_view name, expect_name());
      Parameter made{name, nullptr};
      if (take_operator("=")) {
        TOK_TRY(made.fallback, expression());
      } else if (!all.empty() && all.back().fallback != nullptr) {
        return invalid_input("The parameter \"{}\" needs a default, as the one before it has one.",
                             name);
      }
      all.push_back(made);
    }
    return all;
  }

  /// A body that is called: the loops and special names around it are none of its own.
  Result<void> called_body(Macro& made, std::string_view end) {
    const uint32_t loops = std::exchange(loops_, 0);
    const SpecialNames outside = std::exchange(special_, {});
    TOK_TRY(made.body, body_until(end));
    made.uses_varargs = special_.varargs;
    made.uses_kwargs = special_.kwargs;
    made.uses_caller = special_.caller;
    special_ = outside;
    loops_ = loops;
    return {};
  }

  Result<const Stmt*> macro_statement(uint32_t at) {
    Macro made;
    TOK_TRY(made.name, expect_name());
    TOK_TRY(made.parameters, parameters());
    TOK_TRY(called_body(made, "endmacro"));
    return make_stmt(at, std::move(made));
  }

  Result<const Stmt*> call_statement(uint32_t at) {
    CallBlock made;
    made.caller.name = "caller";
    if (at_operator("(")) {
      TOK_TRY(made.caller.parameters, parameters());
    }
    TOK_TRY(made.call, expression());
    if (!std::holds_alternative<Call>(made.call->node)) return expected("a call of a macro");
    TOK_TRY(called_body(made.caller, "endcall"));
    return make_stmt(at, std::move(made));
  }

  Result<const Stmt*> filter_statement(uint32_t at) {
    FilterBlock made;
    TOK_TRY(FilterCall first, filter_call());
    TOK_TRY(made.filters, filters());
    made.filters.insert(made.filters.begin(), std::move(first));
    TOK_TRY(made.body, body_until("endfilter"));
    return make_stmt(at, std::move(made));
  }

  Result<const Stmt*> with_statement(uint32_t at) {
    With made;
    while (!at_kind(Token::Kind::kCloseBlock)) {
      if (!made.names.empty()) TOK_TRY(expect_operator(","));
      TOK_TRY(Target into, target());
      TOK_TRY(expect_operator("="));
      TOK_TRY(const Expr* value, expression());
      made.names.emplace_back(std::move(into), value);
    }
    TOK_TRY(made.body, body_until("endwith"));
    return make_stmt(at, std::move(made));
  }

  uint32_t loops_ = 0;
};

Failure at_line(std::string_view name, uint32_t line, const Error& error) {
  return Failure(error.within(fmt::format("{}: line {}", name, line)));
}

}  // namespace

Result<std::shared_ptr<const Template>> parse_template(std::string_view source,
                                                       std::string_view name) {
  if (source.size() > kMaxSourceBytes) {
    return invalid_input("{}: The template has {} bytes, more than {}.", name, source.size(),
                         kMaxSourceBytes);
  }
  if (!is_valid_utf8(source)) return invalid_input("{}: The template is not valid UTF-8.", name);
  uint32_t line = 1;
  auto tokens = tokenize(source, line);
  if (!tokens) return at_line(name, line, tokens.error());
  auto made = std::make_shared<Template>();
  made->name = name;
  Parser parser(*std::move(tokens), *made);
  auto body = parser.whole();
  if (!body) return at_line(name, parser.line(), body.error());
  made->body = *std::move(body);
  return made;
}

}  // namespace tokamak::jinja
