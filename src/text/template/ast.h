// The syntax tree of a template. Nodes are owned by their Template and never change after parsing.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/template/value.h"

namespace tokamak::jinja {

struct Expr;
struct Stmt;
using Block = std::vector<const Stmt*>;

// Names point into Template::strings.
struct Literal {
  Value value;
};
struct Name {
  std::string_view name;
};
struct ListLiteral {
  std::vector<const Expr*> items;
  bool is_tuple = false;
};
struct DictLiteral {
  std::vector<std::pair<const Expr*, const Expr*>> items;
};
enum class UnaryOp : uint8_t { kNot, kMinus, kPlus };
struct Unary {
  UnaryOp op;
  const Expr* operand;
};
enum class BinaryOp : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower
};
struct Binary {
  BinaryOp op;
  const Expr* left;
  const Expr* right;
};
struct Logical {
  bool is_and;
  const Expr* left;
  const Expr* right;
};
enum class CompareOp : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn
};
struct Compare {  // first op expr op expr ...
  const Expr* first;
  std::vector<std::pair<CompareOp, const Expr*>> rest;
};
struct Concat {
  std::vector<const Expr*> parts;
};
struct Conditional {
  const Expr* test;
  const Expr* then;
  const Expr* otherwise;  // may be null
};
struct Attribute {
  const Expr* object;
  std::string_view name;
};
struct Subscript {
  const Expr* object;
  const Expr* index;
};
struct Slice {  // parts may be null
  const Expr* object;
  const Expr* start;
  const Expr* stop;
  const Expr* step;
};
struct ArgumentList {
  std::vector<const Expr*> positional;
  std::vector<std::pair<std::string_view, const Expr*>> named;
  const Expr* splat = nullptr;        // *x
  const Expr* named_splat = nullptr;  // **x
};
struct Call {
  const Expr* callee;
  ArgumentList arguments;
};
struct FilterCall {
  std::string_view name;
  ArgumentList arguments;
};
struct Filtered {
  const Expr* input;
  FilterCall filter;
};
struct Tested {
  const Expr* input;
  std::string_view name;
  ArgumentList arguments;
};

struct Expr {
  uint32_t line = 1;
  uint32_t depth = 1;  // levels of the tree under it, itself included
  std::variant<Literal, Name, ListLiteral, DictLiteral, Unary, Binary, Logical, Compare, Concat,
               Conditional, Attribute, Subscript, Slice, Call, Filtered, Tested>
      node;
};

/// The target of an assignment: a name, `name.attribute` of a namespace, or several targets.
struct Target {
  std::string_view name;
  std::string_view attribute;
  std::vector<Target> parts;
};

struct Text {
  std::string_view text;
};
struct Output {
  const Expr* expr;
};
struct If {
  std::vector<std::pair<const Expr*, Block>> branches;
  Block otherwise;
};
struct For {
  Target target;
  const Expr* iterable;
  const Expr* filter;  // may be null
  bool recursive = false;
  Block body;
  Block otherwise;
};
struct Set {
  Target target;
  const Expr* value;
};
struct SetBlock {
  Target target;
  std::vector<FilterCall> filters;
  Block body;
};
struct Parameter {
  std::string_view name;
  const Expr* fallback;  // null: undefined when not given
};
struct Macro {
  std::string_view name;
  std::vector<Parameter> parameters;
  Block body;
  // Which of the special names its body mentions, and so accepts.
  bool uses_varargs = false;
  bool uses_kwargs = false;
  bool uses_caller = false;
};
struct CallBlock {
  const Expr* call;  // a Call
  Macro caller;
};
struct FilterBlock {
  std::vector<FilterCall> filters;
  Block body;
};
struct With {
  std::vector<std::pair<Target, const Expr*>> names;
  Block body;
};
struct Group {  // `generation`, `block`: the body, as it stands
  Block body;
};
struct Break {};
struct Continue {};

struct Stmt {
  uint32_t line = 1;
  std::variant<Text, Output, If, For, Set, SetBlock, Macro, CallBlock, FilterBlock, With, Group,
               Break, Continue>
      node;
};

struct Template {
  std::string name;  // as errors call it
  Block body;
  // Deques keep the addresses of what they hold.
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
  std::deque<std::string> strings;
};

}  // namespace tokamak::jinja
