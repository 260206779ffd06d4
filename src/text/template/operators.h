// The operators of expressions on values, with the results of Python.
#pragma once
#include <compare>

#include "text/template/ast.h"
#include "text/template/runtime.h"

namespace tokamak::jinja {

Result<Value> apply_unary(Runtime& runtime, UnaryOp op, const Value& value);
Result<Value> apply_binary(Runtime& runtime, BinaryOp op, const Value& left, const Value& right);
Result<bool> apply_compare(Runtime& runtime, CompareOp op, const Value& left, const Value& right);

Result<bool> equals(Runtime& runtime, const Value& left, const Value& right);
/// Which is less; an error for types that have no order between them.
Result<std::partial_ordering> order(Runtime& runtime, const Value& left, const Value& right);
Result<bool> contains(Runtime& runtime, const Value& container, const Value& item);

}  // namespace tokamak::jinja
