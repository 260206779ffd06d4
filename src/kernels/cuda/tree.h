// The WGSL that the kernels are written in, as a tree: what parser.h makes and writer.h reads.
//
// The tree says what stands there, not what it means: types of expressions are left to the compiler
// that reads what the writer wrote. Names and numbers point into the text.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

namespace tokamak::wgsl {

/// The place of a thing: a piece of the text (ShaderPiece) and its line, from 1 on.
struct Place {
  uint32_t piece = 0, line = 0;
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

/// "f32", "vec4<f32>", "array<Unit, ROUNDS>", "atomic<u32>", a name that the text declares.
struct Type {
  Place at;
  std::string_view name;
  std::vector<Type> of;  // the types between < and >
  /// The arguments after them: the size of an array (nothing: any number), the columns and rows of
  /// a matrix, the order in which a function of matrices finds its elements.
  std::vector<ExpressionPtr> values;
};

struct Literal {
  std::string_view text;
};
struct Name {
  std::string_view text;
};
/// A function or, where `callee` is a type, the making of a value.
struct Call {
  Type callee;
  std::vector<ExpressionPtr> arguments;
};
struct Member {
  ExpressionPtr object;
  std::string_view name;
};
struct Index {
  ExpressionPtr object, index;
};
struct Unary {
  std::string_view op;
  ExpressionPtr operand;
};
struct Binary {
  std::string_view op;
  ExpressionPtr left, right;
};
struct Expression {
  Place at;
  std::variant<Literal, Name, Call, Member, Index, Unary, Binary> node;
};

struct Statement;
using Block = std::vector<Statement>;

struct Declare {
  enum class Kind : uint8_t { kLet, kVar, kConst };
  Kind kind = Kind::kLet;
  std::string_view name;
  Type type;            // without a name where the text gives none
  ExpressionPtr value;  // null: zero
};
/// `op` is "=", "+=", ..., or "++" and "--", which have no value.
struct Assign {
  ExpressionPtr target;
  std::string_view op;
  ExpressionPtr value;
};
struct Evaluate {
  ExpressionPtr call;
};
struct Return {
  ExpressionPtr value;  // null: nothing
};
struct Jump {
  std::string_view word;  // "break", "continue"
};
struct If {
  ExpressionPtr condition;
  std::unique_ptr<Block> then, otherwise;  // the second one null where there is none
};
/// How a loop is marked; see kernels/unroll.h.
struct Unrolling {
  bool is_wanted = false;
  std::string_view most;  // a number or the name of a constant; "": the usual limit
};
struct For {
  std::unique_ptr<Statement> begin, step;
  ExpressionPtr condition;
  std::unique_ptr<Block> body;
  Unrolling unrolling;
};
struct Nested {
  std::unique_ptr<Block> body;
};
struct Statement {
  Place at;
  std::variant<Declare, Assign, Evaluate, Return, Jump, If, For, Nested> node;
};

struct Constant {
  std::string_view name;
  Type type;
  ExpressionPtr value;
};
struct Alias {
  std::string_view name;
  Type type;
};
struct Field {
  std::string_view name;
  Type type;
  std::string_view builtin;  // of a parameter of the entry: "workgroup_id", ...
};
struct Struct {
  std::string_view name;
  std::vector<Field> fields;
};
/// A variable that stands for a buffer has a binding, one of the kernel's own has none.
struct Variable {
  std::string_view space;   // "private", "workgroup", "storage", "uniform"
  std::string_view access;  // "read", "read_write"; "" where nothing is said
  ExpressionPtr binding;
  std::string_view name;
  Type type;
  ExpressionPtr value;
};
struct Function {
  std::string_view name;
  std::vector<Field> parameters;
  Type result;          // without a name where it gives nothing
  ExpressionPtr lanes;  // of a workgroup: of the entry alone
  Block body;
};
struct Assertion {
  ExpressionPtr condition;
};
struct Declaration {
  Place at;
  std::variant<Constant, Alias, Struct, Variable, Function, Assertion> node;
};

using Module = std::vector<Declaration>;

}  // namespace tokamak::wgsl
