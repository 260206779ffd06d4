#include "graph/row_range.h"
#include "graph/text.h"
#include "report/inspect/cost_table.h"
#include "report/inspect/inspect_views.h"

namespace tokamak::inspection {
namespace {

/// Activations are numbered as in the text form, everything else goes by its name; a cache that was
/// appended to keeps its name.
std::vector<std::string> value_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const TensorDesc& value : graph.values) names.push_back("@" + value.name);
  uint32_t next = 0;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (graph.at(id).storage == Storage::kActivation) {
        names[uint32_t(id)] = fmt::format("%{}", next++);
        continue;
      }
      for (const ValueId in : node.inputs) {
        if (graph.at(in).storage == Storage::kState) names[uint32_t(id)] = names[uint32_t(in)];
      }
    }
  }
  return names;
}

std::string_view storage_name(Storage storage) {
  constexpr std::string_view kNames[] = {"input", "constant", "state", "activation"};
  return kNames[size_t(storage)];
}

struct AttributeJson {
  Json& out;
  void operator()(const char* name, float value) const { out.set(name, double(value)); }
  void operator()(const char* name, uint32_t value) const { out.set(name, value); }
  void operator()(const char* name, bool value) const { out.set(name, value); }
  void operator()(const char* name, Activation value) const {
    out.set(name, activation_name(value));
  }
  void operator()(const char* name, Half value) const { out.set(name, kHalfNames[size_t(value)]); }
  void operator()(const char* name, Prologue value) const {
    out.set(name, kPrologueNames[size_t(value)]);
  }
  void operator()(const char* name, Epilogue value) const {
    out.set(name, kEpilogueNames[size_t(value)]);
  }
  void operator()(const char* name, Score value) const {
    out.set(name, kScoreNames[size_t(value)]);
  }
  void operator()(const char* name, GroupBy value) const {
    out.set(name, kGroupByNames[size_t(value)]);
  }
};

Json attributes_json(const Op& op) {
  Json out{Json::Object{}};
  std::visit([&](const auto& one) { one.fields(one, AttributeJson{out}); }, op);
  return out;
}

Json ids_json(const std::vector<ValueId>& ids) {
  Json::Array list;
  for (const ValueId id : ids) list.emplace_back(uint32_t(id));
  return list;
}

}  // namespace

Result<std::vector<Cost>> node_costs(const Graph& graph, uint64_t tokens, uint64_t kv_length) {
  // A plan of more than one token keeps every node, in order; the CPU takes all of them.
  TOK_TRY(const Plan plan,
          capture(graph, make_cpu_backend()->device(), {.phases = {{"cost", 2}}, .forced = {}}));
  std::vector<Cost> costs;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Cost cost = step_cost(plan, plan.phases[0].steps[n], tokens, kv_length);
    // The CPU holds matrices of several types as f32; other devices do not.
    for (const ValueId id : graph.nodes[n].inputs) {
      const TensorDesc& value = graph.at(id);
      if (value.storage != Storage::kConstant) continue;
      cost.bytes -= byte_count(value, tokens) - stored_bytes(value);
    }
    costs.push_back(cost);
  }
  return costs;
}

Result<std::string> graph_table(const Graph& graph, const InspectRequest& request) {
  TOK_TRY(const std::vector<Cost> costs,
          node_costs(graph, request.tokens, uint64_t{request.depth} + request.tokens));
  const std::vector<std::string> names = value_names(graph);
  CostTable table("node", {"operation", "output"});
  Cost sum;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    std::vector<std::string> inputs, outputs;
    for (const ValueId id : node.inputs) {
      const TensorDesc& value = graph.at(id);
      inputs.push_back(value.storage == Storage::kConstant
                           ? fmt::format("{} {}", value.name, type_text(value))
                           : names[uint32_t(id)]);
    }
    for (const ValueId id : node.outputs) {
      outputs.push_back(fmt::format("{} {}", names[uint32_t(id)], type_text(graph.at(id))));
    }
    table.row({fmt::format("{}{} {}", op_name(node.op), attributes_text(node.op), joined(inputs)),
               joined(outputs)},
              costs[n]);
    sum.bytes += costs[n].bytes;
    sum.flops += costs[n].flops;
  }
  return table.text() +
         fmt::format(
             "\n{} nodes; a step of {} token{} after {} others moves {} and computes {}FLOP\n",
             graph.nodes.size(), request.tokens, request.tokens == 1 ? "" : "s", request.depth,
             bytes_text(sum.bytes), amount_text(double(sum.flops)));
}

Result<Json> graph_json(const Graph& graph, const InspectRequest& request) {
  TOK_TRY(const std::vector<Cost> costs,
          node_costs(graph, request.tokens, uint64_t{request.depth} + request.tokens));
  const std::vector<std::string> names = value_names(graph);
  Json::Array values, nodes;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const TensorDesc& value = graph.values[i];
    Json shape{Json::Array{}}, one;
    for (const Dim dim : value.shape) {
      shape.as_array().push_back(dim == kTokens ? Json("T") : Json(dim));
    }
    one.set("id", uint64_t{i}).set("name", names[i]).set("storage", storage_name(value.storage));
    one.set("dtype", dtype_name(value.dtype)).set("shape", std::move(shape));
    one.set("bytes", value.storage == Storage::kConstant ? stored_bytes(value)
                                                         : byte_count(value, request.tokens));
    if (value.storage == Storage::kConstant) one.set("recipe", recipe_text(value.recipe));
    if (value.window != 0) one.set("window", value.window);
    values.push_back(std::move(one));
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    Json one;
    one.set("op", op_name(node.op)).set("attributes", attributes_json(node.op));
    one.set("inputs", ids_json(node.inputs)).set("outputs", ids_json(node.outputs));
    one.set("bytes", costs[n].bytes).set("flops", costs[n].flops);
    nodes.push_back(std::move(one));
  }
  Json out;
  out.set("tokens", request.tokens).set("depth", request.depth);
  out.set("values", std::move(values)).set("nodes", std::move(nodes));
  out.set("result", uint32_t(graph.result));
  return out;
}

std::string graph_dot(const Graph& graph) {
  std::string out = dot_start("model");
  std::vector<std::string> maker(graph.values.size());
  std::vector<bool> made(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) made[uint32_t(id)] = true;
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const TensorDesc& value = graph.values[i];
    if (made[i] || value.storage == Storage::kConstant) continue;
    maker[i] = fmt::format("v{}", i);
    out += fmt::format("  v{} [shape={}, label=\"{}\\n{}\"];\n", i,
                       value.storage == Storage::kInput ? "ellipse" : "cylinder",
                       dot_escape(value.name), type_text(value));
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    std::string label = std::string(op_name(node.op)) + attributes_text(node.op), edges;
    for (const ValueId id : node.inputs) {
      const TensorDesc& value = graph.at(id);
      if (value.storage == Storage::kConstant) {
        label += fmt::format("\n{} {}", value.name, type_text(value));
      } else {
        edges +=
            fmt::format("  {} -> n{} [label=\"{}\"];\n", maker[uint32_t(id)], n, type_text(value));
      }
    }
    out += fmt::format("  n{} [label=\"{}\"];\n{}", n, dot_escape(label), edges);
    for (const ValueId id : node.outputs) maker[uint32_t(id)] = fmt::format("n{}", n);
  }
  return out + fmt::format("  result [shape=ellipse];\n  {} -> result [label=\"{}\"];\n}}\n",
                           maker[uint32_t(graph.result)], type_text(graph.at(graph.result)));
}

}  // namespace tokamak::inspection
