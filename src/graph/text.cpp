#include "graph/text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>

#include "base/check.h"
#include "base/json.h"
#include "graph/weight_text.h"

namespace tokamak {
namespace {

std::string value_text(float value) {
  return fmt::format("{}", value);
}
std::string value_text(uint32_t value) {
  return fmt::format("{}", value);
}
std::string value_text(bool value) {
  return value ? "true" : "false";
}
std::string value_text(Activation value) {
  return std::string(activation_name(value));
}
std::string value_text(Half value) {
  return std::string(kHalfNames[size_t(value)]);
}
std::string value_text(Prologue value) {
  return std::string(kPrologueNames[size_t(value)]);
}
std::string value_text(Epilogue value) {
  return std::string(kEpilogueNames[size_t(value)]);
}
std::string value_text(Score value) {
  return std::string(kScoreNames[size_t(value)]);
}
std::string value_text(GroupBy value) {
  return std::string(kGroupByNames[size_t(value)]);
}

Result<void> parse_value(Scanner& scan, float& value) {
  TOK_TRY(value, scan.number());
  return {};
}
Result<void> parse_value(Scanner& scan, uint32_t& value) {
  TOK_TRY(value, scan.integer32());
  return {};
}
Result<void> parse_value(Scanner& scan, bool& value) {
  value = scan.take("true");
  if (!value) TOK_TRY(scan.expect("false"));
  return {};
}
/// The whole word: one name may begin another.
Result<void> parse_value(Scanner& scan, Activation& value) {
  TOK_TRY(const std::string word, scan.word());
  const auto found = std::ranges::find(kActivations, word, activation_name);
  if (found == std::end(kActivations)) {
    const auto names = kActivations | std::views::transform(activation_name);
    return scan.wrong(fmt::format("an activation ({})", fmt::join(names, ", ")));
  }
  value = *found;
  return {};
}

template <typename Enum, size_t kCount>
Result<void> parse_name(Scanner& scan, const std::string_view (&names)[kCount], Enum& value) {
  TOK_TRY(const std::string word, scan.word());
  const auto found = std::ranges::find(names, word);
  if (found == std::end(names)) return scan.wrong(fmt::format("not \"{}\"", word));
  value = Enum(found - std::begin(names));
  return {};
}
Result<void> parse_value(Scanner& scan, Half& value) {
  return parse_name(scan, kHalfNames, value);
}
Result<void> parse_value(Scanner& scan, Prologue& value) {
  return parse_name(scan, kPrologueNames, value);
}
Result<void> parse_value(Scanner& scan, Epilogue& value) {
  return parse_name(scan, kEpilogueNames, value);
}
Result<void> parse_value(Scanner& scan, Score& value) {
  return parse_name(scan, kScoreNames, value);
}
Result<void> parse_value(Scanner& scan, GroupBy& value) {
  return parse_name(scan, kGroupByNames, value);
}

std::string_view storage_word(Storage storage) {
  switch (storage) {
    case Storage::kInput:
      return "input";
    case Storage::kConstant:
      return "const";
    case Storage::kState:
      return "state";
    case Storage::kActivation:
      break;
  }
  return "";
}

std::string declarations_text(const Graph& graph) {
  std::vector<bool> made(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) made[uint32_t(id)] = true;
  }
  std::string out;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (made[i]) continue;
    const TensorDesc& value = graph.values[i];
    out += fmt::format("{}  @{}: {}", storage_word(value.storage), value.name, type_text(value));
    if (value.window != 0) out += fmt::format(" {{window={}}}", value.window);
    if (value.storage == Storage::kConstant) out += " = " + recipe_text(value.recipe);
    out += '\n';
  }
  return out;
}

using Names = std::map<std::string, ValueId, std::less<>>;

Result<void> parse_declaration(Scanner& scan, Storage storage, Graph& graph, Names& names) {
  TOK_TRY(scan.expect("@"));
  TOK_TRY(std::string name, scan.word());
  TOK_TRY(scan.expect(":"));
  TOK_TRY(TensorDesc value, parse_type(scan));
  value.storage = storage;
  value.name = name;
  if (scan.take("{window=")) {
    TOK_TRY(parse_value(scan, value.window));
    TOK_TRY(scan.expect("}"));
  }
  if (storage == Storage::kConstant) {
    TOK_TRY(scan.expect("="));
    TOK_TRY(value.recipe, parse_recipe(scan));
  }
  if (!names.emplace("@" + name, ValueId(graph.values.size())).second) {
    return invalid_input("Graph text: \"@{}\" is declared twice.", name);
  }
  graph.values.push_back(std::move(value));
  return {};
}

Result<std::string> parse_reference(Scanner& scan) {
  const bool activation = scan.take("%");
  if (!activation) TOK_TRY(scan.expect("@"));
  TOK_TRY(const std::string word, scan.word());
  return (activation ? "%" : "@") + word;
}

Result<ValueId> parse_use(Scanner& scan, const Names& names) {
  TOK_TRY(const std::string reference, parse_reference(scan));
  const auto found = names.find(reference);
  if (found == names.end()) return scan.wrong("a value made above, not " + reference);
  return found->second;
}

Result<void> parse_node(Scanner& scan, Graph& graph, Names& names) {
  std::vector<std::pair<std::string, TensorDesc>> outputs;
  do {
    TOK_TRY(const std::string reference, parse_reference(scan));
    TOK_TRY(scan.expect(":"));
    TOK_TRY(TensorDesc type, parse_type(scan));
    outputs.emplace_back(reference, std::move(type));
  } while (scan.take(","));
  TOK_TRY(scan.expect("="));
  TOK_TRY(const std::string name, scan.word());
  Node node;
  std::vector<TensorDesc> operands;
  do {
    TOK_TRY(const ValueId id, parse_use(scan, names));
    node.inputs.push_back(id);
  } while (scan.take(","));
  TOK_TRY(node.op, parse_op(scan, name));
  for (const ValueId id : node.inputs) imply_state(node.op, graph.at(id));
  TOK_TRY(std::vector<TensorDesc> inferred, infer_outputs(graph, node.op, node.inputs));
  if (inferred.size() != outputs.size()) {
    return scan.wrong(fmt::format("{} outputs of {}", inferred.size(), name));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (type_text(inferred[i]) != type_text(outputs[i].second)) {
      return scan.wrong(fmt::format("{} to be {}", outputs[i].first, type_text(inferred[i])));
    }
    if (!names.emplace(outputs[i].first, ValueId(graph.values.size())).second) {
      return scan.wrong(outputs[i].first + " to be made once");
    }
    node.outputs.push_back(ValueId(graph.values.size()));
    graph.values.push_back(std::move(inferred[i]));
  }
  graph.nodes.push_back(std::move(node));
  return {};
}

std::string numbers_text(const std::vector<float>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, " "));
}

Result<std::vector<float>> parse_numbers(Scanner& scan) {
  std::vector<float> numbers;
  TOK_TRY(scan.expect("["));
  while (!scan.take("]")) {
    TOK_TRY(const float number, scan.number());
    numbers.push_back(number);
  }
  return numbers;
}

template <size_t kIndex = 0>
Result<Op> parse_op_named(Scanner& scan, std::string_view name) {
  if constexpr (kIndex == std::variant_size_v<Op>) {
    return scan.wrong(fmt::format("an op, not \"{}\"", name));
  } else {
    using Candidate = std::variant_alternative_t<kIndex, Op>;
    if (name != Candidate::kName) return parse_op_named<kIndex + 1>(scan, name);
    Candidate op;
    Result<void> status;
    bool first = true;
    Candidate::fields(op, [&](std::string_view field, auto& value) {
      if (!status) return;
      status = scan.expect(first ? "{" : ",");
      if (status) status = scan.expect(field);
      if (status) status = scan.expect("=");
      if (status) status = parse_value(scan, value);
      first = false;
    });
    if (status && !first) status = scan.expect("}");
    if (!status) return Failure(std::move(status).error());
    return Op(op);
  }
}

}  // namespace

std::string attributes_text(const Op& op) {
  std::string text;
  std::visit(
      [&](const auto& o) {
        o.fields(o, [&](std::string_view name, const auto& value) {
          text += fmt::format("{}{}={}", text.empty() ? " {" : ", ", name, value_text(value));
        });
      },
      op);
  return text.empty() ? text : text + "}";
}

std::string recipe_text(const Recipe& recipe) {
  if (const auto* weight = std::get_if<Weight>(&recipe)) {
    std::string text = weight->order == RowOrder::kPlain    ? "weight"
                       : weight->order == RowOrder::kConcat ? "concat"
                                                            : "interleave";
    for (const WeightPart& part : weight->parts) text += ' ' + part_text(part);
    if (weight->add_one) text += " + 1";
    return weight->column_cut.is_whole() ? text : text + " columns" + cut_text(weight->column_cut);
  }
  if (const auto* fill = std::get_if<Fill>(&recipe)) return fmt::format("fill {}", fill->value);
  if (const auto* order = std::get_if<ColumnOrder>(&recipe)) {
    std::string text = "order";
    for (const std::string& groups : order->groups) text += ' ' + Json(groups).dump();
    return text;
  }
  if (const auto* table = std::get_if<RopeTable>(&recipe)) {
    std::string text = fmt::format("rope {{factor={}}} {}", table->factor,
                                   numbers_text(table->inverse_frequencies));
    if (table->short_rows == 0) return text;
    return text +
           fmt::format(" short {} {}", table->short_rows, numbers_text(table->short_frequencies));
  }
  if (const auto* slopes = std::get_if<Slopes>(&recipe)) {
    return "slopes " + numbers_text(slopes->slopes);
  }
  if (const auto* norm = std::get_if<WeightNorm>(&recipe)) {
    return fmt::format("weight_norm {} {}", Json(norm->magnitude).dump(),
                       Json(norm->direction).dump());
  }
  if (const auto* stack = std::get_if<LoraStack>(&recipe)) {
    std::string text = "lora";
    for (const LoraPart& part : stack->parts) {
      text += fmt::format(" {}[{}:{}] * {}{}", Json(part.tensor).dump(), part.first_row,
                          part.first_row + part.rows, part.factor, cut_text(part.cut));
    }
    return stack->column_cut.is_whole() ? text : text + " columns" + cut_text(stack->column_cut);
  }
  return "none";
}

std::string nodes_text(const Graph& graph) {
  std::vector<std::optional<uint32_t>> number(graph.values.size());
  uint32_t next = 0;
  const auto reference = [&](ValueId id) {
    const auto& n = number[uint32_t(id)];
    return n ? fmt::format("%{}", *n) : "@" + graph.at(id).name;
  };
  std::string out;
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      number[uint32_t(node.outputs[i])] = next++;
      out += fmt::format("{}{}: {}", i == 0 ? "" : ", ", reference(node.outputs[i]),
                         type_text(graph.at(node.outputs[i])));
    }
    out += fmt::format(" = {}", op_name(node.op));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out += (i == 0 ? " " : ", ") + reference(node.inputs[i]);
    }
    out += attributes_text(node.op) + '\n';
  }
  return out + "return " + reference(graph.result) + '\n';
}

std::string to_text(const Graph& graph) {
  return declarations_text(graph) + nodes_text(graph);
}

Result<Op> parse_op(Scanner& scan, std::string_view name) {
  return parse_op_named(scan, name);
}

Result<Recipe> parse_recipe(Scanner& scan) {
  TOK_TRY(const std::string kind, scan.word());
  if (kind == "none") return Recipe{};
  if (kind == "rope") {
    RopeTable table;
    TOK_TRY(scan.expect("{factor="));
    TOK_TRY(table.factor, scan.number());
    TOK_TRY(scan.expect("}"));
    TOK_TRY(table.inverse_frequencies, parse_numbers(scan));
    if (scan.take("short")) {
      TOK_TRY(parse_value(scan, table.short_rows));
      TOK_TRY(table.short_frequencies, parse_numbers(scan));
      if (table.short_rows == 0) return scan.wrong("a number of short rows above 0");
      if (table.short_frequencies.size() != table.inverse_frequencies.size()) {
        return scan.wrong(fmt::format("{} short frequencies", table.inverse_frequencies.size()));
      }
    }
    return Recipe(std::move(table));
  }
  if (kind == "slopes") {
    TOK_TRY(std::vector<float> slopes, parse_numbers(scan));
    return Recipe(Slopes{std::move(slopes)});
  }
  if (kind == "fill") {
    TOK_TRY(const float value, scan.number());
    return Recipe(Fill{value});
  }
  if (kind == "order") {
    ColumnOrder order;
    do {
      TOK_TRY(order.groups.emplace_back(), scan.quoted());
    } while (!scan.at_line_end());
    return Recipe(std::move(order));
  }
  if (kind == "weight_norm") {
    WeightNorm norm;
    TOK_TRY(norm.magnitude, scan.quoted());
    TOK_TRY(norm.direction, scan.quoted());
    return Recipe(std::move(norm));
  }
  if (kind == "lora") {
    LoraStack stack;
    while (!scan.at_line_end()) {
      if (scan.take("columns")) {
        TOK_TRY(stack.column_cut, parse_cut(scan));
        break;
      }
      TOK_TRY(LoraPart part, parse_lora_part(scan));
      stack.parts.push_back(std::move(part));
    }
    return Recipe(std::move(stack));
  }
  Weight weight;
  if (kind == "concat") {
    weight.order = RowOrder::kConcat;
  } else if (kind == "interleave") {
    weight.order = RowOrder::kInterleave;
  } else if (kind != "weight") {
    return scan.wrong("weight, concat, interleave, rope, fill, order, weight_norm or lora");
  }
  while (!scan.at_line_end()) {
    if (scan.take("+ 1")) {
      weight.add_one = true;
      continue;
    }
    if (scan.take("columns")) {
      TOK_TRY(weight.column_cut, parse_cut(scan));
      break;
    }
    TOK_TRY(WeightPart part, parse_part(scan));
    weight.parts.push_back(std::move(part));
  }
  if (weight.parts.empty()) return scan.wrong("the name of a checkpoint tensor");
  return Recipe(std::move(weight));
}

Result<TensorDesc> parse_type(Scanner& scan) {
  TensorDesc type;
  TOK_TRY(type.dtype, parse_dtype(scan));
  TOK_TRY(scan.expect("["));
  do {
    if (scan.take("T")) {
      type.shape.push_back(kTokens);
      continue;
    }
    if (scan.take("O")) {
      type.shape.push_back(kOutputs);
      continue;
    }
    TOK_TRY(const uint64_t size, scan.integer());
    if (size == 0 || size > UINT32_MAX) return scan.wrong("a size between 1 and 2^32 - 1");
    type.shape.push_back(Dim(size));
  } while (scan.take(","));
  TOK_TRY(scan.expect("]"));
  if (type.shape.size() > 4) return scan.wrong("at most 4 dimensions");
  return type;
}

Result<Graph> parse_graph(std::string_view text) {
  Scanner scan(text);
  Graph graph;
  Names names;
  for (scan.skip_lines(); !scan.at_end(); scan.skip_lines()) {
    if (scan.take("return")) {
      TOK_TRY(graph.result, parse_use(scan, names));
      TOK_TRY(scan.expect_line_end());
      scan.skip_lines();
      if (!scan.at_end()) return scan.wrong("nothing after the return line");
      TOK_TRY(verify(graph));
      return graph;
    }
    if (scan.take("input")) {
      TOK_TRY(parse_declaration(scan, Storage::kInput, graph, names));
    } else if (scan.take("const")) {
      TOK_TRY(parse_declaration(scan, Storage::kConstant, graph, names));
    } else if (scan.take("state")) {
      TOK_TRY(parse_declaration(scan, Storage::kState, graph, names));
    } else {
      TOK_TRY(parse_node(scan, graph, names));
    }
    TOK_TRY(scan.expect_line_end());
  }
  return scan.wrong("a return line");
}

}  // namespace tokamak
