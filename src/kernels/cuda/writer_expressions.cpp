#include <algorithm>

#include "kernels/cuda/writer_state.h"

namespace tokamak::wgsl {
namespace {

constexpr std::string_view kScalars[] = {"f32", "u32", "i32", "f16", "bool"};
constexpr std::string_view kVectors[] = {"vec2",
                                         "vec3",
                                         "vec4",
                                         "array",
                                         "mat4x4",
                                         "subgroup_matrix_left",
                                         "subgroup_matrix_right",
                                         "subgroup_matrix_result"};
/// The orders of a matrix' elements.
constexpr std::string_view kOrders[] = {"row_major", "col_major"};
/// The functions of the language that wgsl.cuh has.
constexpr std::string_view kFunctions[] = {"abs",
                                           "any",
                                           "atomicAdd",
                                           "atomicLoad",
                                           "atomicMax",
                                           "atomicMin",
                                           "atomicStore",
                                           "awaitRank",
                                           "bitcast",
                                           "clamp",
                                           "dot",
                                           "dot4I8Packed",
                                           "exp",
                                           "exp2",
                                           "inverseSqrt",
                                           "log",
                                           "max",
                                           "min",
                                           "pack4xI8",
                                           "pack2x16float",
                                           "putRank",
                                           "round",
                                           "select",
                                           "signalRank",
                                           "storageBarrier",
                                           "subgroupAdd",
                                           "subgroupAny",
                                           "subgroupMatrixColumn",
                                           "subgroupMatrixLeft",
                                           "subgroupMatrixLoad",
                                           "subgroupMatrixMultiplyAccumulate",
                                           "subgroupMatrixRow",
                                           "subgroupMatrixStore",
                                           "subgroupMax",
                                           "subgroupMin",
                                           "subgroupShuffleXor",
                                           "takeRank",
                                           "tanh",
                                           "unpack2x16float",
                                           "workgroupBarrier",
                                           "workgroupUniformLoad"};
/// Vectors of vectors' components that wgsl.cuh has.
constexpr std::string_view kSwizzles[] = {"xy", "zw", "xz", "yw"};

bool has(const auto& list, std::string_view name) {
  return std::ranges::count(list, name) != 0;
}

bool is_swizzle(std::string_view member) {
  return member.size() > 1 && member.find_first_not_of("xyzw") == member.npos;
}

/// Numbers with a fraction or an exponent are f32 where nothing else is said.
std::string literal(std::string_view text) {
  if (text == "true" || text == "false") return std::string(text);
  const bool is_hex = text.starts_with("0x");
  const bool is_float = text.find_first_of(is_hex ? ".p" : ".eE") != text.npos;
  if (is_float && (is_hex || !text.ends_with('f'))) return std::string(text) + 'f';
  if (text.ends_with('i')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

std::string Writer::type(const Type& own) {
  // Functions that take a pointer take a reference here.
  if (own.name == "ptr") return type(own.of.front()) + "&";
  const bool is_ours = structs_.contains(own.name) || aliases_.contains(own.name);
  if (!is_ours && !has(kScalars, own.name) && !has(kVectors, own.name) && own.name != "atomic" &&
      !has(kOrders, own.name)) {
    wrong(own.at, fmt::format("type \"{}\" has no translation", own.name));
  }
  return std::string(own.name) + type_arguments(own);
}

std::string Writer::type_arguments(const Type& own) {
  if (own.of.empty()) return "";
  std::string text = "<" + type(own.of.front());
  for (const ExpressionPtr& value : own.values) text += ", " + expression(*value);
  return text + '>';
}

std::string Writer::joined(const std::vector<ExpressionPtr>& list) {
  std::string text;
  for (const ExpressionPtr& one : list) {
    if (!text.empty()) text += ", ";
    text += expression(*one);
  }
  return text;
}

std::string Writer::call(const Call& own) {
  const std::string_view name = own.callee.name;
  if (name == "arrayLength" && own.arguments.size() == 1) return length(own);
  const std::string arguments = joined(own.arguments);
  if (structs_.contains(name)) return fmt::format("{}{{{}}}", name, arguments);
  if (functions_.contains(name)) return fmt::format("{}({})", name, arguments);
  if (has(kFunctions, name)) {
    return fmt::format("{}{}({})", name, type_arguments(own.callee), arguments);
  }
  if (has(kScalars, name) && !own.arguments.empty())
    return fmt::format("to<{}>({})", name, arguments);
  if (!aliases_.contains(name) && !has(kScalars, name) && !has(kVectors, name)) {
    wrong(own.callee.at, fmt::format("\"{}\" has no translation", name));
  }
  return fmt::format("{}({})", type(own.callee), arguments);
}

/// The length of a buffer, whose size comes with the launch.
std::string Writer::length(const Call& own) {
  std::string_view name;
  each_name(own.arguments.front(), [&](std::string_view one) { name = one; });
  for (const Variable* one : all<Variable>()) {
    if (one->name != name || one->binding == nullptr || one->type.of.empty()) continue;
    return fmt::format("length_of<{}>(bound_buffers, {})", type(one->type.of.front()),
                       expression(*one->binding));
  }
  wrong(own.callee.at, fmt::format("\"{}\" is no buffer that has a length", name));
  return "";
}

std::string Writer::binary(const Binary& own) {
  if (own.op == "<<" || own.op == ">>") {
    return fmt::format("{}({}, {})", own.op == "<<" ? "shift_left" : "shift_right",
                       expression(*own.left), expression(*own.right));
  }
  return fmt::format("{} {} {}", operand(*own.left), own.op, operand(*own.right));
}

/// In parentheses where another operator may stand beside it.
std::string Writer::operand(const Expression& own) {
  const auto* binary = std::get_if<Binary>(&own.node);
  const bool is_one = binary == nullptr || binary->op == "<<" || binary->op == ">>";
  return is_one ? expression(own) : fmt::format("({})", expression(own));
}

std::string Writer::expression(const Expression& own) {
  if (const auto* number = std::get_if<Literal>(&own.node)) return literal(number->text);
  if (const auto* name = std::get_if<Name>(&own.node)) return std::string(name->text);
  if (const auto* one = std::get_if<Call>(&own.node)) return call(*one);
  if (const auto* one = std::get_if<Binary>(&own.node)) return binary(*one);
  if (const auto* index = std::get_if<Index>(&own.node)) {
    return fmt::format("{}[{}]", operand(*index->object), expression(*index->index));
  }
  if (const auto* member = std::get_if<Member>(&own.node)) {
    const bool is_vector = is_swizzle(member->name);
    if (is_vector && !has(kSwizzles, member->name)) {
      wrong(own.at, fmt::format("\".{}\" has no translation", member->name));
    }
    return fmt::format("{}.{}{}", operand(*member->object), member->name, is_vector ? "()" : "");
  }
  const auto& unary = std::get<Unary>(own.node);
  // A pointer of the language becomes a reference.
  if (unary.op == "&" || unary.op == "*") return expression(*unary.operand);
  return fmt::format("{}{}", unary.op, operand(*unary.operand));
}

}  // namespace tokamak::wgsl
