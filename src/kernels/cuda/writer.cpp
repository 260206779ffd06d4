#include "kernels/cuda/writer.h"

#include "kernels/cuda/writer_state.h"

namespace tokamak::wgsl {

namespace {
constexpr std::string_view kAwaitInputs = "await_inputs";
}

Result<std::string> written(const Module& module, std::span<const ShaderPiece> pieces) {
  return Writer(module, pieces).kernel();
}

Writer::Writer(const Module& module, std::span<const ShaderPiece> pieces)
    : module_(module), pieces_(pieces) {
  for (size_t i = 0; i < module.size(); ++i) {
    if (const auto* constant = std::get_if<Constant>(&module[i].node)) {
      before_[constant->name] = i;
    } else if (const auto* alias = std::get_if<Alias>(&module[i].node)) {
      before_[alias->name] = i;
      aliases_.insert(alias->name);
    } else if (const auto* own = std::get_if<Struct>(&module[i].node)) {
      before_[own->name] = i;
      structs_.insert(own->name);
    } else if (const auto* function = std::get_if<Function>(&module[i].node)) {
      functions_.insert(function->name);
    }
  }
}

Result<std::string> Writer::kernel() {
  text_ = "#include \"device.cuh\"\n#include \"wgsl.cuh\"\n\nnamespace wgsl {\nstruct Kernel {\n";
  depth_ = 1;
  types_and_constants();
  shared();
  variables();
  constructor();
  for (const Function* one : all<Function>()) function(*one);
  entry();
  text_ += "};\n}  // namespace wgsl\n\nENTRY(wgsl::Kernel)\n";
  if (error_) return Failure(*error_);
  return std::move(text_);
}

void Writer::types_and_constants() {
  std::vector<bool> is_written(module_.size());
  for (const auto& [name, index] : before_) in_order(index, is_written);
  for (const Assertion* one : all<Assertion>()) {
    line(fmt::format("static_assert({});", expression(*one->condition)));
  }
}

/// A declaration comes after those that it uses. (WGSL allows no circles there.)
void Writer::in_order(size_t index, std::vector<bool>& is_written) {
  if (is_written[index]) return;
  is_written[index] = true;
  const Declaration& own = module_[index];
  const auto visit = [&](std::string_view name) {
    const auto found = before_.find(name);
    if (found != before_.end()) in_order(found->second, is_written);
  };
  if (const auto* constant = std::get_if<Constant>(&own.node)) {
    each_name(constant->type, visit);
    each_name(constant->value, visit);
  } else if (const auto* alias = std::get_if<Alias>(&own.node)) {
    each_name(alias->type, visit);
  } else if (const auto* structure = std::get_if<Struct>(&own.node)) {
    for (const Field& field : structure->fields) each_name(field.type, visit);
  }
  declaration(own);
}

void Writer::declaration(const Declaration& declaration) {
  if (const auto* own = std::get_if<Constant>(&declaration.node)) {
    line(fmt::format("static constexpr {} {} = {};",
                     own->type.name.empty() ? "auto" : type(own->type), own->name,
                     expression(*own->value)));
  } else if (const auto* alias = std::get_if<Alias>(&declaration.node)) {
    line(fmt::format("using {} = {};", alias->name, type(alias->type)));
  } else {
    structure(std::get<Struct>(declaration.node));
  }
}

void Writer::structure(const Struct& own) {
  line(fmt::format("struct {} {{", own.name));
  for (const Field& field : own.fields) {
    // A member that follows one in WGSL lies in the room of a fourth component.
    if (field.type.name == "vec3") wrong(field.type.at, "a struct with a vec3 has no translation");
    line(fmt::format("  {} {};", type(field.type), field.name));
  }
  line("};");
}

void Writer::shared() {
  line("struct Shared {");
  for (const Variable* one : all<Variable>()) {
    if (one->space == "workgroup") line(fmt::format("  {} {};", type(one->type), one->name));
  }
  line("};");
}

namespace {
bool is_any_length(const Type& type) {
  return type.name == "array" && type.values.empty();
}
/// Buffers of neighbouring binding numbers, which a kernel has one element of each rank of.
bool are_several(const Type& type) {
  return type.name == "binding_array" && type.of.size() == 1 && type.values.size() == 1 &&
         is_any_length(type.of.front());
}
}  // namespace

/// Returns the type of the value, or of the many values, that a buffer holds.
std::string Writer::element_type(const Variable& buffer) {
  const Type& one = are_several(buffer.type) ? buffer.type.of.front() : buffer.type;
  const std::string element = type(is_any_length(one) ? one.of.front() : one);
  return (buffer.access == "read_write" ? "" : "const ") + element;
}

/// Returns the type of the member that is the variable, and the function that makes it.
Writer::Bound Writer::bound(const Variable& buffer) {
  const std::string element = element_type(buffer);
  if (are_several(buffer.type)) {
    const std::string both = fmt::format("{}, {}", element, expression(*buffer.type.values[0]));
    return {fmt::format("Buffers<{}>", both), fmt::format("buffers_at<{}>", both)};
  }
  if (is_any_length(buffer.type)) {
    return {fmt::format("Buffer<{}>", element), fmt::format("buffer_at<{}>", element)};
  }
  return {element + "&", fmt::format("value_at<{}>", element)};
}

void Writer::variables() {
  for (const Variable* one : all<Variable>()) {
    if (one->space == "workgroup") {
      line(fmt::format("{}& {};", type(one->type), one->name));
    } else if (one->space == "private") {
      const std::string value = one->value == nullptr ? "" : expression(*one->value);
      const std::string own_type =
          one->type.name.empty() ? fmt::format("decltype({})", value) : type(one->type);
      line(fmt::format("{} {}{{{}}};", own_type, one->name, value));
    } else {
      line(fmt::format("{} {};", bound(*one).type, one->name));
    }
  }
}

void Writer::constructor() {
  std::string members;
  for (const Variable* one : all<Variable>()) {
    std::string value;
    if (one->space == "workgroup") {
      value = fmt::format("shared.{}", one->name);
    } else if (one->binding != nullptr) {
      value = fmt::format("{}(bound, {}, \"{}\")", bound(*one).maker, expression(*one->binding),
                          one->name);
    } else {
      continue;
    }
    members += fmt::format(", {}({})", one->name, value);
  }
  line("const Bound& bound_buffers;");
  line(fmt::format(
      "DEVICE Kernel(Shared& shared, const Bound& bound) : bound_buffers(bound){} {{}}", members));
}

void Writer::function(const Function& own) {
  if (own.name == kAwaitInputs) return;  // device.cuh has it
  std::string parameters;
  for (const Field& one : own.parameters) {
    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ", type(one.type), one.name);
  }
  line(fmt::format("DEVICE {} {}({}) {{", own.result.name.empty() ? "void" : type(own.result),
                   own.name, parameters));
  block(own.body);
  line("}");
}

/// How device.cuh comes in: how many lanes there shall be, and what each of them runs. A kernel
/// that reads weights first says itself when it comes to what the launch before it writes.
void Writer::entry() {
  for (const Function* one : all<Function>()) {
    if (one->lanes == nullptr) continue;
    std::string builtins;
    for (const Field& parameter : one->parameters) {
      builtins += fmt::format("{}{}()", builtins.empty() ? "" : ", ", parameter.builtin);
    }
    line(fmt::format("static constexpr u32 workgroup_lanes = {};", expression(*one->lanes)));
    line(fmt::format("DEVICE void enter() {{ {}{}({}); }}",
                     functions_.contains(kAwaitInputs) ? "" : "await_inputs(); ", one->name,
                     builtins));
  }
}

}  // namespace tokamak::wgsl
