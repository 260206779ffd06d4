// The expressions of a template, by precedence, weakest first:
//
//   x if y else z | or | and | not | == != < <= > >= in, not in | + - | ~ | * / // % | ** |
//   unary + - | x.y x[y] x(y) | x|filter, x is test
#pragma once
#include <initializer_list>

#include "text/template/token_reader.h"

namespace tokamak::jinja {

class ExpressionParser : public TokenReader {
 public:
  using TokenReader::TokenReader;

 protected:
  Result<const Expr*> expression(bool allow_conditional = true);
  /// Several expressions with commas between them make a tuple.
  Result<const Expr*> expressions(bool allow_conditional = true);
  /// `|a|b(c)`: empty when there is none.
  Result<std::vector<FilterCall>> filters();
  Result<FilterCall> filter_call();
  Result<const Expr*> make(uint32_t line, decltype(Expr::node) node,
                           std::initializer_list<const Expr*> children);

  /// The special names of macros met since they were last reset.
  struct SpecialNames {
    bool varargs = false;
    bool kwargs = false;
    bool caller = false;
  };
  SpecialNames special_;

 private:
  Result<const Expr*> make_over(uint32_t line, decltype(Expr::node) node,
                                const std::vector<const Expr*>& children);
  Result<const Expr*> disjunction();
  Result<const Expr*> conjunction();
  Result<const Expr*> negation();
  Result<const Expr*> comparison();
  Result<const Expr*> sum();
  Result<const Expr*> concatenation();
  Result<const Expr*> product();
  Result<const Expr*> power();
  Result<const Expr*> unary(bool with_filters);
  Result<const Expr*> primary();
  Result<const Expr*> literal_name();
  Result<const Expr*> string();
  Result<const Expr*> number();
  Result<const Expr*> list();
  Result<const Expr*> dict();
  Result<const Expr*> parenthesised();
  Result<const Expr*> postfix(const Expr* inner);
  Result<const Expr*> attribute(const Expr* inner);
  Result<const Expr*> subscript(const Expr* inner);
  Result<const Expr*> filters_and_tests(const Expr* inner);
  Result<const Expr*> call(const Expr* inner);
  Result<const Expr*> test(const Expr* inner);
  Result<ArgumentList> arguments();
  bool at_test_argument() const;
  bool at_end_of_expressions() const;
};

}  // namespace tokamak::jinja
