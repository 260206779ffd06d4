// The expressions of a template, and calls.
#include <algorithm>

#include "text/template/attributes.h"
#include "text/template/filters.h"
#include "text/template/interpreter.h"
#include "text/template/operators.h"
#include "text/template/print.h"

namespace tokamak::jinja {

Result<Value> Interpreter::evaluate(const Expr* expr, Scope& scope) {
  if (++depth_ > runtime_.limits().max_depth) {
    return invalid_input("The template recurses deeper than {} levels.",
                         runtime_.limits().max_depth);
  }
  TOK_TRY(runtime_.spend_steps(1));
  auto value = std::visit([&](const auto& node) { return value_of(node, scope); }, expr->node);
  if (!value && line_ == 0) line_ = expr->line;
  --depth_;
  return value;
}

Result<Value> Interpreter::value_of(const Literal& node, Scope&) {
  return node.value;
}

Result<Value> Interpreter::lookup(std::string_view name, const Scope& scope) {
  for (const Scope* place = &scope; place != nullptr; place = place->parent) {
    TOK_TRY(runtime_.spend_steps(1 + place->names.size() / 8));
    const auto found =
        std::ranges::find(place->names, name, [](const auto& one) { return one.first; });
    if (found != place->names.end()) return found->second;
  }
  const Builtin function = find_function(name);
  if (function != nullptr) return runtime_.callable({.name = name, .builtin = function});
  return runtime_.undefined("'{}' is undefined", name);
}

Result<Value> Interpreter::value_of(const Name& node, Scope& scope) {
  return lookup(node.name, scope);
}

Result<Value> Interpreter::value_of(const ListLiteral& node, Scope& scope) {
  std::vector<Value> items;
  for (const Expr* expr : node.items) {
    TOK_TRY(const Value item, evaluate(expr, scope));
    items.push_back(item);
  }
  return runtime_.sequence(std::move(items),
                           node.is_tuple ? Sequence::Form::kTuple : Sequence::Form::kList);
}

Result<Value> Interpreter::value_of(const DictLiteral& node, Scope& scope) {
  Dict dict;
  for (const auto& [key_expr, value_expr] : node.items) {
    TOK_TRY(const Value key, evaluate(key_expr, scope));
    TOK_TRY(const Value value, evaluate(value_expr, scope));
    if (!Dict::can_be_key(key)) {
      return invalid_input("A value of type {} cannot be the key of a dict.", key.type_name());
    }
    dict.set(key, value);
  }
  return runtime_.dict(std::move(dict));
}

Result<Value> Interpreter::value_of(const Unary& node, Scope& scope) {
  TOK_TRY(const Value value, evaluate(node.operand, scope));
  return apply_unary(runtime_, node.op, value);
}

Result<Value> Interpreter::value_of(const Binary& node, Scope& scope) {
  TOK_TRY(const Value left, evaluate(node.left, scope));
  TOK_TRY(const Value right, evaluate(node.right, scope));
  return apply_binary(runtime_, node.op, left, right);
}

Result<Value> Interpreter::value_of(const Logical& node, Scope& scope) {
  TOK_TRY(const Value left, evaluate(node.left, scope));
  if (left.truth() != node.is_and) return left;
  return evaluate(node.right, scope);
}

Result<Value> Interpreter::value_of(const Compare& node, Scope& scope) {
  TOK_TRY(Value left, evaluate(node.first, scope));
  for (const auto& [op, expr] : node.rest) {
    TOK_TRY(const Value right, evaluate(expr, scope));
    TOK_TRY(const bool holds, apply_compare(runtime_, op, left, right));
    if (!holds) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::value_of(const Concat& node, Scope& scope) {
  std::string text;
  for (const Expr* part : node.parts) {
    TOK_TRY(const Value value, evaluate(part, scope));
    TOK_TRY(const std::string shown, to_str(runtime_, value));
    TOK_TRY(runtime_.check_room(text.size() + shown.size()));
    text += shown;
  }
  return runtime_.text(std::move(text));
}

Result<Value> Interpreter::value_of(const Conditional& node, Scope& scope) {
  TOK_TRY(const Value condition, evaluate(node.test, scope));
  if (condition.truth()) return evaluate(node.then, scope);
  if (node.otherwise != nullptr) return evaluate(node.otherwise, scope);
  return runtime_.undefined("the inline if-expression evaluated to false and has no else");
}

Result<Value> Interpreter::value_of(const Attribute& node, Scope& scope) {
  TOK_TRY(const Value object, evaluate(node.object, scope));
  return get_attribute(runtime_, object, node.name);
}

Result<Value> Interpreter::value_of(const Subscript& node, Scope& scope) {
  TOK_TRY(const Value object, evaluate(node.object, scope));
  TOK_TRY(const Value index, evaluate(node.index, scope));
  return get_item(runtime_, object, index);
}

Result<Value> Interpreter::value_of(const Slice& node, Scope& scope) {
  TOK_TRY(const Value object, evaluate(node.object, scope));
  Value parts[3] = {Value::none(), Value::none(), Value::none()};
  const Expr* exprs[3] = {node.start, node.stop, node.step};
  for (size_t i = 0; i < 3; ++i) {
    if (exprs[i] == nullptr) continue;
    TOK_TRY(parts[i], evaluate(exprs[i], scope));
  }
  return get_slice(runtime_, object, parts[0], parts[1], parts[2]);
}

Result<Value> Interpreter::value_of(const Filtered& node, Scope& scope) {
  TOK_TRY(const Value input, evaluate(node.input, scope));
  TOK_TRY(const Arguments given, arguments(node.filter.arguments, scope));
  return apply_filter(runtime_, node.filter.name, input, given);
}

Result<Value> Interpreter::value_of(const Tested& node, Scope& scope) {
  TOK_TRY(const Value input, evaluate(node.input, scope));
  TOK_TRY(const Arguments given, arguments(node.arguments, scope));
  TOK_TRY(const bool holds, apply_test(runtime_, node.name, input, given));
  return Value::boolean(holds);
}

Result<Arguments> Interpreter::arguments(const ArgumentList& list, Scope& scope) {
  Arguments given;
  for (const Expr* expr : list.positional) {
    TOK_TRY(const Value value, evaluate(expr, scope));
    given.positional.push_back(value);
  }
  for (const auto& [name, expr] : list.named) {
    TOK_TRY(const Value value, evaluate(expr, scope));
    given.named.emplace_back(name, value);
  }
  if (list.splat != nullptr) {
    TOK_TRY(const Value value, evaluate(list.splat, scope));
    TOK_TRY(const std::span<const Value> items, runtime_.iterate(value));
    given.positional.insert(given.positional.end(), items.begin(), items.end());
  }
  if (list.named_splat != nullptr) {
    TOK_TRY(const Value value, evaluate(list.named_splat, scope));
    if (!value.is_dict()) return invalid_input("The argument after \"**\" must be a dict.");
    TOK_TRY(runtime_.spend_steps(value.as_dict().items.size()));
    for (const auto& [key, item] : value.as_dict().items) {
      if (!key.is_text()) return invalid_input("Names of arguments must be texts.");
      given.named.emplace_back(key.as_text(), item);
    }
  }
  return given;
}

Result<Value> Interpreter::value_of(const Call& node, Scope& scope) {
  TOK_TRY(const Value callee, evaluate(node.callee, scope));
  TOK_TRY(const Arguments given, arguments(node.arguments, scope));
  return call(callee, given);
}

Result<Value> Interpreter::call(const Value& callee, const Arguments& given) {
  if (callee.is_undefined()) return invalid_input("{}", callee.undefined_message());
  if (callee.is_loop()) return call_loop(callee.as_loop(), given);
  if (!callee.is_callable()) {
    return invalid_input("'{}' object is not callable", callee.type_name());
  }
  const Callable& callable = callee.as_callable();
  if (callable.macro != nullptr) return call_macro(callable, given);
  return callable.builtin(runtime_, callable.self, given);
}

Result<Value> Interpreter::call_loop(const Loop& loop, const Arguments& given) {
  if (!loop.statement->recursive) {
    return invalid_input("The loop is called, but its \"for\" is not marked as recursive.");
  }
  if (given.positional.size() != 1 || !given.named.empty()) {
    return invalid_input("loop() takes exactly one argument.");
  }
  std::string out;
  TOK_TRY(run_loop(*loop.statement, given.positional[0], loop.depth + 1, *loop.scope, out));
  return runtime_.text(std::move(out));
}

Result<Value> Interpreter::call_macro(const Callable& callable, const Arguments& given) {
  TOK_TRY(Scope * scope, runtime_.scope(callable.scope));
  TOK_TRY(bind_parameters(*callable.macro, given, *scope));
  std::string out;
  TOK_TRY(execute(callable.macro->body, *scope, out));
  return runtime_.text(std::move(out));
}

Result<void> Interpreter::bind_parameters(const Macro& macro, const Arguments& given,
                                          Scope& scope) {
  const size_t count = macro.parameters.size();
  std::vector<bool> is_used(given.named.size(), false);
  TOK_TRY(runtime_.spend_steps(count * (1 + given.named.size() / 8)));
  for (size_t i = 0; i < count; ++i) {
    const Parameter& parameter = macro.parameters[i];
    const auto found = std::ranges::find(given.named, parameter.name,
                                         [](const auto& argument) { return argument.first; });
    Value value;
    if (found != given.named.end()) {
      is_used[size_t(found - given.named.begin())] = true;
      value = found->second;
      if (i < given.positional.size()) {
        return invalid_input("macro '{}' is given the argument '{}' twice", macro.name,
                             parameter.name);
      }
    } else if (i < given.positional.size()) {
      value = given.positional[i];
    } else if (parameter.fallback != nullptr) {
      TOK_TRY(value, evaluate(parameter.fallback, scope));
    } else {
      TOK_TRY(value, runtime_.undefined("parameter '{}' was not provided", parameter.name));
    }
    TOK_TRY(set_name(scope, parameter.name, value));
  }
  if (given.positional.size() > count && !macro.uses_varargs) {
    return invalid_input("macro '{}' takes not more than {} argument(s)", macro.name, count);
  }
  if (macro.uses_varargs) {
    const size_t first = std::min(count, given.positional.size());
    TOK_TRY(const Value extra,
            runtime_.sequence(std::vector<Value>(given.positional.begin() + std::ptrdiff_t(first),
                                                 given.positional.end()),
                              Sequence::Form::kTuple));
    TOK_TRY(set_name(scope, "varargs", extra));
  }
  TOK_TRY(Value caller, runtime_.undefined("No caller defined"));
  Dict extra;
  for (size_t i = 0; i < given.named.size(); ++i) {
    if (is_used[i]) continue;
    const auto& [name, value] = given.named[i];
    if (name == "caller" && macro.uses_caller) {
      caller = value;
    } else if (macro.uses_kwargs) {
      TOK_TRY(const Value key, runtime_.text(std::string(name)));
      extra.set(key, value);
    } else {
      return invalid_input("macro '{}' takes no keyword argument '{}'", macro.name, name);
    }
  }
  if (macro.uses_caller) TOK_TRY(set_name(scope, "caller", caller));
  if (macro.uses_kwargs) {
    TOK_TRY(const Value all, runtime_.dict(std::move(extra)));
    TOK_TRY(set_name(scope, "kwargs", all));
  }
  return {};
}

}  // namespace tokamak::jinja
