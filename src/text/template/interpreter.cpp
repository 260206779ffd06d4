// The statements of a template; expressions are in evaluate.cpp.
#include "text/template/interpreter.h"

#include <algorithm>

#include "text/template/filters.h"
#include "text/template/print.h"

namespace tokamak::jinja {

Result<std::string> Interpreter::run(const Template& source, Scope& variables) {
  std::string out;
  TOK_TRY(execute(source.body, variables, out));
  return out;
}

Result<void> Interpreter::execute(const Block& block, Scope& scope, std::string& out) {
  if (++depth_ > runtime_.limits().max_depth) {
    return invalid_input("The template recurses deeper than {} levels.",
                         runtime_.limits().max_depth);
  }
  for (const Stmt* statement : block) {
    auto done = runtime_.spend_steps(1);
    if (done) {
      done = std::visit([&](const auto& node) { return run(node, scope, out); }, statement->node);
    }
    if (!done) {
      if (line_ == 0) line_ = statement->line;
      return done;
    }
    if (flow_ != Flow::kOn) break;
  }
  --depth_;  // after a failure nothing runs any more, and the depth does not matter
  return {};
}

Result<void> Interpreter::append(std::string& out, std::string_view text) {
  TOK_TRY(runtime_.spend_reading(text.size()));
  if (text.size() > runtime_.limits().max_output_bytes - out.size()) {
    return invalid_input("The rendered text has more than {} bytes.",
                         runtime_.limits().max_output_bytes);
  }
  out += text;
  return {};
}

Result<void> Interpreter::run(const Text& node, Scope&, std::string& out) {
  return append(out, node.text);
}

Result<void> Interpreter::run(const Output& node, Scope& scope, std::string& out) {
  TOK_TRY(const Value value, evaluate(node.expr, scope));
  if (value.is_text()) return append(out, value.as_text());
  TOK_TRY(const std::string text, to_str(runtime_, value));
  return append(out, text);
}

Result<void> Interpreter::run(const If& node, Scope& scope, std::string& out) {
  for (const auto& [condition, body] : node.branches) {
    TOK_TRY(const Value value, evaluate(condition, scope));
    if (value.truth()) return execute(body, scope, out);
  }
  return execute(node.otherwise, scope, out);
}

Result<void> Interpreter::run(const For& node, Scope& scope, std::string& out) {
  TOK_TRY(const Value iterable, evaluate(node.iterable, scope));
  return run_loop(node, iterable, 0, scope, out);
}

Result<Value> Interpreter::filtered(const For& node, std::span<const Value> items, Scope& scope) {
  TOK_TRY(Scope * inner, runtime_.scope(&scope));
  std::vector<Value> kept;
  for (const Value& item : items) {
    inner->names.clear();
    TOK_TRY(assign(node.target, item, *inner));
    TOK_TRY(const Value passes, evaluate(node.filter, *inner));
    if (passes.truth()) kept.push_back(item);
  }
  return runtime_.sequence(std::move(kept));
}

Result<void> Interpreter::run_loop(const For& node, const Value& iterable, uint32_t depth,
                                   Scope& scope, std::string& out) {
  TOK_TRY(std::span<const Value> items, runtime_.iterate(iterable));
  if (node.filter != nullptr) {
    TOK_TRY(const Value kept, filtered(node, items, scope));
    items = kept.as_sequence().items;
  }
  TOK_TRY(Scope * inner, runtime_.scope(&scope));
  TOK_TRY(const Value loop,
          runtime_.loop({.items = items, .depth = depth, .statement = &node, .scope = &scope}));
  bool is_complete = false;  // as in the reference, `else` runs unless some round reached its end
  for (size_t i = 0; i < items.size(); ++i) {
    loop.as_loop().index = i;
    inner->names.clear();  // every round begins with the names from outside
    inner->names.emplace_back("loop", loop);
    TOK_TRY(assign(node.target, items[i], *inner));
    TOK_TRY(execute(node.body, *inner, out));
    const Flow flow = std::exchange(flow_, Flow::kOn);
    if (flow == Flow::kBreak) break;
    is_complete = is_complete || flow == Flow::kOn;
  }
  if (is_complete) return {};
  inner->names.clear();
  return execute(node.otherwise, *inner, out);
}

Result<void> Interpreter::set_name(Scope& scope, std::string_view name, const Value& value) {
  TOK_TRY(runtime_.spend_steps(1 + scope.names.size() / 8));
  const auto found =
      std::ranges::find(scope.names, name, [](const auto& one) { return one.first; });
  if (found != scope.names.end()) {
    found->second = value;
  } else {
    if (scope.names.size() == scope.names.capacity()) {
      TOK_TRY(runtime_.spend_bytes((1 + scope.names.size()) * sizeof(*found)));
    }
    scope.names.emplace_back(name, value);
  }
  return {};
}

Result<void> Interpreter::assign(const Target& target, const Value& value, Scope& scope) {
  if (!target.parts.empty()) {
    TOK_TRY(const std::span<const Value> items, runtime_.iterate(value));
    if (items.size() != target.parts.size()) {
      return invalid_input("{} values to unpack (expected {}, got {})",
                           items.size() < target.parts.size() ? "not enough" : "too many",
                           target.parts.size(), items.size());
    }
    for (size_t i = 0; i < items.size(); ++i) {
      TOK_TRY(assign(target.parts[i], items[i], scope));
    }
    return {};
  }
  if (target.attribute.empty()) return set_name(scope, target.name, value);
  TOK_TRY(const Value object, lookup(target.name, scope));
  if (!object.is_namespace()) {
    return invalid_input("cannot assign attribute on non-namespace object");
  }
  TOK_TRY(const Value key, runtime_.text(std::string(target.attribute)));
  object.as_namespace().attributes.set(key, value);
  return {};
}

Result<void> Interpreter::run(const Set& node, Scope& scope, std::string&) {
  TOK_TRY(const Value value, evaluate(node.value, scope));
  return assign(node.target, value, scope);
}

Result<Value> Interpreter::captured(const Block& block, const std::vector<FilterCall>& filters,
                                    Scope& scope) {
  TOK_TRY(Scope * inner, runtime_.scope(&scope));
  std::string out;
  TOK_TRY(execute(block, *inner, out));
  TOK_TRY(Value value, runtime_.text(std::move(out)));
  for (const FilterCall& filter : filters) {
    TOK_TRY(const Arguments given, arguments(filter.arguments, *inner));
    TOK_TRY(value, apply_filter(runtime_, filter.name, value, given));
  }
  return value;
}

Result<void> Interpreter::run(const SetBlock& node, Scope& scope, std::string&) {
  TOK_TRY(const Value value, captured(node.body, node.filters, scope));
  return assign(node.target, value, scope);
}

Result<void> Interpreter::run(const FilterBlock& node, Scope& scope, std::string& out) {
  TOK_TRY(const Value value, captured(node.body, node.filters, scope));
  TOK_TRY(const std::string text, to_str(runtime_, value));
  return append(out, text);
}

Result<void> Interpreter::run(const Macro& node, Scope& scope, std::string&) {
  TOK_TRY(const Value macro,
          runtime_.callable({.name = node.name, .macro = &node, .scope = &scope}));
  return set_name(scope, node.name, macro);
}

Result<void> Interpreter::run(const CallBlock& node, Scope& scope, std::string& out) {
  const Call& called = std::get<Call>(node.call->node);
  TOK_TRY(const Value callee, evaluate(called.callee, scope));
  TOK_TRY(Arguments given, arguments(called.arguments, scope));
  TOK_TRY(const Value caller,
          runtime_.callable({.name = "caller", .macro = &node.caller, .scope = &scope}));
  given.named.emplace_back("caller", caller);
  TOK_TRY(const Value value, call(callee, given));
  TOK_TRY(const std::string text, to_str(runtime_, value));
  return append(out, text);
}

Result<void> Interpreter::run(const With& node, Scope& scope, std::string& out) {
  TOK_TRY(Scope * inner, runtime_.scope(&scope));
  for (const auto& [target, expr] : node.names) {
    TOK_TRY(const Value value, evaluate(expr, scope));
    TOK_TRY(assign(target, value, *inner));
  }
  return execute(node.body, *inner, out);
}

Result<void> Interpreter::run(const Group& node, Scope& scope, std::string& out) {
  TOK_TRY(Scope * inner, runtime_.scope(&scope));
  return execute(node.body, *inner, out);
}

Result<void> Interpreter::run(const Break&, Scope&, std::string&) {
  flow_ = Flow::kBreak;
  return {};
}

Result<void> Interpreter::run(const Continue&, Scope&, std::string&) {
  flow_ = Flow::kContinue;
  return {};
}

}  // namespace tokamak::jinja
