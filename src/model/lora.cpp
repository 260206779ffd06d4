#include "model/lora.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/bits.h"
#include "base/check.h"
#include "model/lora_adapter.h"

namespace tokamak {
namespace {

constexpr std::string_view kWeightEnding = ".weight";
constexpr uint32_t kRankUnit = 8;  // of LoraDown and LoraUp

/// A module of the checkpoint, and the products that are made of its rows.
struct Module {
  std::vector<size_t> nodes;
  LoraShape shape;
  uint32_t rank = 0;  // the largest of all adapters', in whole units; 0: it is not adapted
};
using Modules = std::map<std::string, Module, std::less<>>;

/// The parts of a weight that is rows of tensors as they are; none of another one.
std::span<const WeightPart> plain_parts(const TensorDesc& value) {
  const auto* weight = std::get_if<Weight>(&value.recipe);
  if (weight == nullptr || weight->add_one || weight->order == RowOrder::kInterleave) return {};
  return weight->parts;
}

/// The module whose weight that tensor is; empty of another tensor.
std::string_view lora_module(const WeightPart& part) {
  std::string_view name = part.name;
  if (!name.ends_with(kWeightEnding)) return {};
  name.remove_suffix(kWeightEnding.size());
  return inner_lora_name(name);
}

/// The rows of a part of `value`, which has all rows where the part does not say.
uint32_t rows_of(const WeightPart& part, const TensorDesc& value) {
  return part.rows != 0 ? part.rows : uint32_t(value.shape[0]);
}

Modules modules_of(const Graph& graph) {
  Modules found;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!std::holds_alternative<Linear>(node.op)) continue;
    const TensorDesc& w = graph.at(node.inputs[1]);
    if (graph.at(node.inputs[0]).shape[0] != kTokens) continue;
    for (const WeightPart& part : plain_parts(w)) {
      const std::string_view name = lora_module(part);
      if (name.empty()) continue;
      Module& module = found[std::string(name)];
      if (module.nodes.empty() || module.nodes.back() != i) module.nodes.push_back(i);
      module.shape.in = uint32_t(w.shape[1]);
      module.shape.out = std::max(module.shape.out, part.first_row + rows_of(part, w));
    }
  }
  return found;
}

/// The type that holds all values of a stack as they are: that of its tensors, where it is one.
class StackType {
 public:
  void add(const TensorInfo& tensor, double factor) {
    int exponent = 0;
    const bool is_power = std::frexp(factor, &exponent) == 0.5;
    // A power of two leaves a bf16's digits as they are; an f16 may leave its range.
    const bool is_exact = factor == 1 || (is_power && tensor.dtype == DType::kBF16);
    const DType own = is_exact ? tensor.dtype : DType::kF32;
    type_ = !type_ || *type_ == own ? own : DType::kF32;
  }
  DType get() const { return type_.value_or(DType::kF32); }

 private:
  std::optional<DType> type_;
};

class Rewriter {
 public:
  Rewriter(Graph& graph, const Modules& modules, const std::vector<LoraAdapter>& adapters)
      : graph_(graph), modules_(modules), adapters_(adapters) {
    for (const auto& [name, module] : modules_) {
      if (module.rank == 0) continue;
      for (const size_t node : module.nodes) products_[node].push_back(name);
    }
  }

  Result<void> run() {
    TOK_TRY(group());
    std::vector<Node> before = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (size_t i = 0; i < before.size(); ++i) {
      Node& node = before[i];
      for (ValueId& id : node.inputs) id = adapted(id);
      graph_.nodes.push_back(node);
      if (const auto found = products_.find(i); found != products_.end()) {
        waiting_[node.outputs[0]] = {found->second, node.inputs[1], x_of_.at(i)};
      }
    }
    graph_.result = adapted(graph_.result);
    return verify(graph_);
  }

 private:
  /// Products of one x.
  struct Group {
    std::vector<std::string> modules;
    std::map<std::string, uint32_t> first;  // of each module's columns in what LoraDown makes
    uint32_t rank = 0;                      // of all together
    std::optional<ValueId> down;            // once there is one
  };
  /// A product whose result nobody has asked for yet: its LoraUp comes in front of the first who
  /// does, so that the products of one x stay neighbours, as the passes of fuse/ want them.
  struct Product {
    std::vector<std::string> modules;  // several where its weight is stacked of their rows
    ValueId w, x;
  };

  Result<void> group() {
    std::map<ValueId, ValueId> gathered;  // columns in the order of a matrix -> as they are
    for (const Node& node : graph_.nodes) {
      if (std::holds_alternative<GatherColumns>(node.op))
        gathered[node.outputs[0]] = node.inputs[0];
    }
    for (const auto& [i, names] : products_) {
      ValueId x = graph_.nodes[i].inputs[0];
      if (const auto found = gathered.find(x); found != gathered.end()) x = found->second;
      x_of_[i] = x;
      for (const std::string& name : names) TOK_TRY(join(groups_[x], name));
    }
    return {};
  }

  Result<void> join(Group& group, const std::string& name) const {
    const Module& module = modules_.find(name)->second;
    if (module.shape.in % 8 != 0) {
      return unsupported("{} takes {} columns; adapters are for a multiple of 8.", name,
                         module.shape.in);
    }
    if (!group.first.try_emplace(name, group.rank).second) return {};
    group.modules.push_back(name);
    group.rank += module.rank;
    return {};
  }

  /// The value that takes the place of that one.
  ValueId adapted(ValueId id) {
    if (const auto found = waiting_.find(id); found != waiting_.end()) {
      const Product product = found->second;
      waiting_.erase(found);
      ValueId y = id;
      for (const std::string& module : product.modules) y = up(y, product, module);
      renamed_[id] = y;
    }
    const auto found = renamed_.find(id);
    return found == renamed_.end() ? id : found->second;
  }

  /// y plus what the adapters add for one module, which is nothing in the rows of others.
  ValueId up(ValueId y, const Product& product, const std::string& name) {
    Group& group = groups_.at(product.x);
    if (!group.down) group.down = down(adapted(product.x), group);
    // Copied, since values are about to be added.
    const TensorDesc w = graph_.at(product.w);
    LoraStack stack;
    StackType type;
    for (size_t i = 0; i < adapters_.size(); ++i) {
      const LoraPair* pair = adapters_[i].find(name);
      if (pair != nullptr) type.add(*pair->b, pair->factor);
      for (const WeightPart& part : plain_parts(w)) {
        const bool is_own = pair != nullptr && lora_module(part) == name;
        stack.parts.push_back(
            part_of(i, is_own ? pair->b : nullptr, part.first_row, rows_of(part, w)));
        if (is_own) stack.parts.back().factor = float(pair->factor);
      }
    }
    const std::string stacked = product.modules.size() == 1 ? w.name : name;
    const ValueId b = constant(stacked + ".lora_up", w.shape[0] * Dim(adapters_.size()),
                               modules_.find(name)->second.rank, type.get(), std::move(stack));
    return add(LoraUp{group.first.at(name)}, {y, *group.down, b});
  }

  ValueId down(ValueId x, const Group& group) {
    LoraStack stack;
    StackType type;
    for (size_t i = 0; i < adapters_.size(); ++i) {
      for (const std::string& name : group.modules) {
        const LoraPair* pair = adapters_[i].find(name);
        if (pair != nullptr) type.add(*pair->a, 1);
        stack.parts.push_back(
            part_of(i, pair == nullptr ? nullptr : pair->a, 0, modules_.find(name)->second.rank));
      }
    }
    const ValueId a =
        constant(group.modules.front() + ".lora_down", Dim{group.rank} * Dim(adapters_.size()),
                 graph_.at(x).shape[1], type.get(), std::move(stack));
    return add(LoraDown{group.rank}, {x, a});
  }

  static LoraPart part_of(size_t adapter, const TensorInfo* tensor, uint32_t first, uint32_t rows) {
    if (tensor == nullptr) return {.tensor = {}, .rows = rows};
    return {.tensor = lora_prefix(adapter) + tensor->name, .first_row = first, .rows = rows};
  }

  ValueId constant(std::string name, Dim rows, Dim columns, DType dtype, LoraStack stack) {
    return value({.name = std::move(name),
                  .shape = {rows, columns},
                  .dtype = dtype,
                  .storage = Storage::kConstant,
                  .recipe = std::move(stack)});
  }

  ValueId value(TensorDesc desc) {
    graph_.values.push_back(std::move(desc));
    return ValueId(graph_.values.size() - 1);
  }

  ValueId add(const Op& op, std::vector<ValueId> inputs) {
    auto outputs = infer_outputs(graph_, op, inputs);
    TOK_CHECK(outputs.has_value());
    const ValueId y = value(std::move(outputs->front()));
    graph_.nodes.push_back({op, std::move(inputs), {y}});
    return y;
  }

  Graph& graph_;
  const Modules& modules_;
  const std::vector<LoraAdapter>& adapters_;
  std::map<size_t, std::vector<std::string>> products_;  // node -> modules
  std::map<size_t, ValueId> x_of_;   // node -> what it multiplies, columns in their order
  std::map<ValueId, Group> groups_;  // by x, before it is adapted itself
  std::map<ValueId, Product> waiting_;
  std::map<ValueId, ValueId> renamed_;
};

}  // namespace

std::string lora_prefix(size_t index) {
  return fmt::format("lora.{}/", index + 1);
}

Result<void> add_adapters(Graph& graph, std::span<const LoraFiles> adapters,
                          const std::function<void(std::string_view)>& notice) {
  Modules modules = modules_of(graph);
  LoraShapes shapes;
  for (const auto& [name, module] : modules) shapes[name] = module.shape;
  std::vector<LoraAdapter> read;
  for (const LoraFiles& files : adapters) {
    TOK_TRY(LoraAdapter adapter, LoraAdapter::read(files, shapes));
    if (notice) adapter.note_unused_patterns(notice);
    for (const auto& [name, pair] : adapter.pairs()) {
      uint32_t& rank = modules.find(name)->second.rank;
      rank = std::max(rank, round_up(uint32_t(pair.a->shape[0]), kRankUnit));
    }
    read.push_back(std::move(adapter));
  }
  return Rewriter(graph, modules, read).run();
}

}  // namespace tokamak
