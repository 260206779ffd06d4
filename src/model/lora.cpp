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

/// The tensor whose rows make that weight; null where there are several, or they are changed.
const std::string* only_tensor(const TensorDesc& value) {
  const auto* weight = std::get_if<Weight>(&value.recipe);
  if (weight == nullptr || weight->add_one || weight->order == RowOrder::kInterleave)
    return nullptr;
  const std::string& name = weight->parts.front().name;
  const bool is_one =
      std::ranges::all_of(weight->parts, [&](const WeightPart& part) { return part.name == name; });
  return is_one && name.ends_with(kWeightEnding) ? &name : nullptr;
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
    const std::string* tensor = only_tensor(w);
    if (tensor == nullptr || graph.at(node.inputs[0]).shape[0] != kTokens) continue;
    const std::string_view name =
        std::string_view(*tensor).substr(0, tensor->size() - kWeightEnding.size());
    Module& module = found[std::string(inner_lora_name(name))];
    module.nodes.push_back(i);
    module.shape.in = uint32_t(w.shape[1]);
    for (const WeightPart& part : std::get<Weight>(w.recipe).parts) {
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
      for (const size_t node : module.nodes) products_[node] = name;
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
    std::string module;
    ValueId w, x;
  };

  Result<void> group() {
    std::map<ValueId, ValueId> gathered;  // columns in the order of a matrix -> as they are
    for (const Node& node : graph_.nodes) {
      if (std::holds_alternative<GatherColumns>(node.op))
        gathered[node.outputs[0]] = node.inputs[0];
    }
    for (const auto& [i, name] : products_) {
      const Module& module = modules_.find(name)->second;
      if (module.shape.in % 8 != 0) {
        return unsupported("{} takes {} columns; adapters are for a multiple of 8.", name,
                           module.shape.in);
      }
      ValueId x = graph_.nodes[i].inputs[0];
      if (const auto found = gathered.find(x); found != gathered.end()) x = found->second;
      x_of_[i] = x;
      Group& own = groups_[x];
      if (!own.first.try_emplace(name, own.rank).second) continue;
      own.modules.push_back(name);
      own.rank += module.rank;
    }
    return {};
  }

  /// The value that takes the place of that one.
  ValueId adapted(ValueId id) {
    if (const auto found = waiting_.find(id); found != waiting_.end()) {
      const Product product = found->second;
      waiting_.erase(found);
      renamed_[id] = up(id, product);
    }
    const auto found = renamed_.find(id);
    return found == renamed_.end() ? id : found->second;
  }

  ValueId up(ValueId y, const Product& product) {
    Group& group = groups_.at(product.x);
    if (!group.down) group.down = down(adapted(product.x), group);
    // Copied, since values are about to be added.
    const TensorDesc w = graph_.at(product.w);
    LoraStack stack;
    StackType type;
    for (size_t i = 0; i < adapters_.size(); ++i) {
      const LoraPair* pair = adapters_[i].find(product.module);
      if (pair != nullptr) type.add(*pair->b, pair->factor);
      for (const WeightPart& part : std::get<Weight>(w.recipe).parts) {
        stack.parts.push_back(
            part_of(i, pair == nullptr ? nullptr : pair->b, part.first_row, rows_of(part, w)));
        if (pair != nullptr) stack.parts.back().factor = float(pair->factor);
      }
    }
    const Module& module = modules_.find(product.module)->second;
    const ValueId b = constant(w.name + ".lora_up", w.shape[0] * Dim(adapters_.size()), module.rank,
                               type.get(), std::move(stack));
    return add(LoraUp{group.first.at(product.module)}, {y, *group.down, b});
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
  std::map<size_t, std::string> products_;  // node -> module
  std::map<size_t, ValueId> x_of_;          // node -> what it multiplies, columns in their order
  std::map<ValueId, Group> groups_;         // by x, before it is adapted itself
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
