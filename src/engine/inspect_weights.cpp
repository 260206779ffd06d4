#include <map>

#include "engine/inspect_views.h"

namespace tokamak::inspection {
namespace {

/// Checkpoint tensor -> the constant that it goes into.
std::map<std::string, std::string, std::less<>> readers(const Graph& graph) {
  std::map<std::string, std::string, std::less<>> out;
  for (const TensorDesc& value : graph.values) {
    const auto* weight = std::get_if<Weight>(&value.recipe);
    if (weight == nullptr) continue;
    for (const WeightPart& part : weight->parts) out[part.name] = value.name;
  }
  return out;
}

/// "vision_tower" of "model.vision_tower.layers.0.weight".
std::string part_of_model(std::string_view name) {
  constexpr std::string_view kPrefix = "model.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return std::string(name.substr(0, name.find('.')));
}

uint64_t parameters_of(const TensorInfo& tensor) {
  return tensor.elements();
}

void count(WeightUse& use, const TensorInfo& tensor) {
  ++use.tensors;
  use.parameters += parameters_of(tensor);
  use.bytes += tensor.bytes;
}

Table tensors_table(const ModelFiles& files, const Graph& graph) {
  const auto used_by = readers(graph);
  Table table;
  table.column("tensor", "name")
      .column("type", "type")
      .column("bytes", "bytes", Table::Align::kRight)
      .column("file", "file")
      .column("goes into", "constant");
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    const auto reader = used_by.find(tensor.name);
    const bool used = reader != used_by.end();
    const std::string constant = !used                           ? "(skipped)"
                                 : reader->second == tensor.name ? "itself"
                                                                 : reader->second;
    table.row({tensor.name, describe(tensor), bytes_cell(tensor.bytes),
               file_part(files.tensors.file_name(tensor)),
               Cell(constant, used ? Json(reader->second) : Json())});
  }
  return table;
}

std::string use_text(const WeightUse& use) {
  return fmt::format("{} tensor{}, {} parameters, {}", use.tensors, use.tensors == 1 ? "" : "s",
                     count_text(use.parameters), bytes_text(use.bytes));
}

Json use_json(const WeightUse& use) {
  Json out;
  out.set("tensors", use.tensors).set("parameters", use.parameters);
  return out.set("bytes", use.bytes);
}

}  // namespace

WeightUses weight_uses(const ModelFiles& files, const Graph& graph) {
  const auto used_by = readers(graph);
  WeightUses uses;
  std::map<std::string, WeightUse> parts;
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    if (used_by.contains(tensor.name)) {
      count(uses.used, tensor);
    } else {
      count(uses.skipped, tensor);
      count(parts[part_of_model(tensor.name)], tensor);
    }
  }
  uses.skipped_parts.assign(parts.begin(), parts.end());
  return uses;
}

std::string weights_table(const ModelFiles& files, const Graph& graph) {
  const WeightUses uses = weight_uses(files, graph);
  std::string out = tensors_table(files, graph).text();
  out += fmt::format("\nused: {}\n", use_text(uses.used));
  for (const auto& [part, use] : uses.skipped_parts) {
    out += fmt::format("skipped: {}: {}\n", part, use_text(use));
  }
  return out;
}

Json weights_json(const ModelFiles& files, const Graph& graph) {
  const WeightUses uses = weight_uses(files, graph);
  Json out;
  out.set("used", use_json(uses.used)).set("skipped", use_json(uses.skipped));
  return out.set("tensors", tensors_table(files, graph).json());
}

}  // namespace tokamak::inspection
