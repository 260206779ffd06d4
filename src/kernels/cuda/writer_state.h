// The part that sections of the writer share: the text so far, the module's names, the first error.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/writer.h"

namespace tokamak::wgsl {

class Writer {
 public:
  Writer(const Module& module, std::span<const ShaderPiece> pieces);
  Result<std::string> kernel();

 private:
  // writer.cpp: declarations
  void types_and_constants();
  void in_order(size_t index, std::vector<bool>& is_written);
  void declaration(const Declaration& declaration);
  void structure(const Struct& own);
  void shared();
  void variables();
  void constructor();
  void function(const Function& own);
  void entry();
  std::string element_type(const Variable& buffer);
  struct Bound {
    std::string type, maker;
  };
  Bound bound(const Variable& buffer);
  // writer_statements.cpp
  void block(const Block& statements);
  void write(const Statement& statement);
  std::string simple(const Statement& statement);
  std::string declare(Place at, const Declare& own);
  std::string assign(const Assign& own);
  void conditional(const If& own);
  void loop(const For& own);
  // writer_expressions.cpp
  std::string type(const Type& type);
  std::string type_arguments(const Type& type);
  std::string expression(const Expression& expression);
  std::string operand(const Expression& expression);
  std::string call(const Call& own);
  std::string length(const Call& own);
  std::string binary(const Binary& own);
  std::string joined(const std::vector<ExpressionPtr>& list);

  void line(std::string_view text) {
    text_.append(depth_ * 2, ' ');
    text_ += text;
    text_ += '\n';
  }
  /// Keeps the first one; what is written from then on is never read.
  void wrong(Place at, std::string_view message) {
    if (!error_) error_ = text_error(pieces_, at, message).error();
  }
  template <typename T>
  std::vector<const T*> all() const {
    std::vector<const T*> found;
    for (const Declaration& one : module_) {
      if (const T* own = std::get_if<T>(&one.node)) found.push_back(own);
    }
    return found;
  }

  const Module& module_;
  std::span<const ShaderPiece> pieces_;
  /// Constants, aliases and structs: what others may need before they can be declared themselves.
  std::map<std::string_view, size_t> before_;
  std::set<std::string_view> structs_, aliases_, functions_;
  std::string text_;
  size_t depth_ = 0;
  std::optional<Error> error_;
};

/// Calls visit(name) for every name in it, those of types and functions, too.
void each_name(const Type& type, const auto& visit);
void each_name(const Expression& expression, const auto& visit);

void each_name(const ExpressionPtr& expression, const auto& visit) {
  if (expression != nullptr) each_name(*expression, visit);
}

void each_name(const Type& type, const auto& visit) {
  if (!type.name.empty()) visit(type.name);
  for (const Type& one : type.of) each_name(one, visit);
  for (const ExpressionPtr& one : type.values) each_name(one, visit);
}

void each_name(const Expression& expression, const auto& visit) {
  if (const auto* name = std::get_if<Name>(&expression.node)) {
    visit(name->text);
  } else if (const auto* call = std::get_if<Call>(&expression.node)) {
    each_name(call->callee, visit);
    for (const ExpressionPtr& one : call->arguments) each_name(one, visit);
  } else if (const auto* member = std::get_if<Member>(&expression.node)) {
    each_name(member->object, visit);
  } else if (const auto* index = std::get_if<Index>(&expression.node)) {
    each_name(index->object, visit);
    each_name(index->index, visit);
  } else if (const auto* unary = std::get_if<Unary>(&expression.node)) {
    each_name(unary->operand, visit);
  } else if (const auto* binary = std::get_if<Binary>(&expression.node)) {
    each_name(binary->left, visit);
    each_name(binary->right, visit);
  }
}

}  // namespace tokamak::wgsl
