// Runs a template: one object per rendering.
#pragma once
#include <string>
#include <string_view>

#include "text/template/ast.h"
#include "text/template/runtime.h"

namespace tokamak::jinja {

class Interpreter {
 public:
  explicit Interpreter(Runtime& runtime) : runtime_(runtime) {}

  /// The rendered text; `variables` is changed by what the template sets at its top level.
  Result<std::string> run(const Template& source, Scope& variables);

  /// The line of the last failure; 0 before any.
  uint32_t line() const { return line_; }

 private:
  enum class Flow : uint8_t { kOn, kBreak, kContinue };

  Result<void> execute(const Block& block, Scope& scope, std::string& out);
  Result<void> run(const Text& node, Scope& scope, std::string& out);
  Result<void> run(const Output& node, Scope& scope, std::string& out);
  Result<void> run(const If& node, Scope& scope, std::string& out);
  Result<void> run(const For& node, Scope& scope, std::string& out);
  Result<void> run(const Set& node, Scope& scope, std::string& out);
  Result<void> run(const SetBlock& node, Scope& scope, std::string& out);
  Result<void> run(const Macro& node, Scope& scope, std::string& out);
  Result<void> run(const CallBlock& node, Scope& scope, std::string& out);
  Result<void> run(const FilterBlock& node, Scope& scope, std::string& out);
  Result<void> run(const With& node, Scope& scope, std::string& out);
  Result<void> run(const Group& node, Scope& scope, std::string& out);
  Result<void> run(const Break& node, Scope& scope, std::string& out);
  Result<void> run(const Continue& node, Scope& scope, std::string& out);

  Result<void> run_loop(const For& node, const Value& iterable, uint32_t depth, Scope& scope,
                        std::string& out);
  Result<Value> filtered(const For& node, std::span<const Value> items, Scope& scope);
  Result<void> assign(const Target& target, const Value& value, Scope& scope);
  Result<void> set_name(Scope& scope, std::string_view name, const Value& value);
  Result<void> append(std::string& out, std::string_view text);
  /// The output of `block` through `filters`.
  Result<Value> captured(const Block& block, const std::vector<FilterCall>& filters, Scope& scope);

  Result<Value> evaluate(const Expr* expr, Scope& scope);
  Result<Value> value_of(const Literal& node, Scope& scope);
  Result<Value> value_of(const Name& node, Scope& scope);
  Result<Value> value_of(const ListLiteral& node, Scope& scope);
  Result<Value> value_of(const DictLiteral& node, Scope& scope);
  Result<Value> value_of(const Unary& node, Scope& scope);
  Result<Value> value_of(const Binary& node, Scope& scope);
  Result<Value> value_of(const Logical& node, Scope& scope);
  Result<Value> value_of(const Compare& node, Scope& scope);
  Result<Value> value_of(const Concat& node, Scope& scope);
  Result<Value> value_of(const Conditional& node, Scope& scope);
  Result<Value> value_of(const Attribute& node, Scope& scope);
  Result<Value> value_of(const Subscript& node, Scope& scope);
  Result<Value> value_of(const Slice& node, Scope& scope);
  Result<Value> value_of(const Call& node, Scope& scope);
  Result<Value> value_of(const Filtered& node, Scope& scope);
  Result<Value> value_of(const Tested& node, Scope& scope);

  Result<Value> lookup(std::string_view name, const Scope& scope);
  Result<Arguments> arguments(const ArgumentList& list, Scope& scope);
  Result<Value> call(const Value& callee, const Arguments& given);
  Result<Value> call_macro(const Callable& callable, const Arguments& given);
  Result<Value> call_loop(const Loop& loop, const Arguments& given);
  Result<void> bind_parameters(const Macro& macro, const Arguments& given, Scope& scope);

  Runtime& runtime_;
  uint32_t depth_ = 0;
  uint32_t line_ = 0;
  Flow flow_ = Flow::kOn;
};

}  // namespace tokamak::jinja
