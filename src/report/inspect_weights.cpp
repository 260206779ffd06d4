#include <algorithm>
#include <map>

#include "model/gguf/import.h"
#include "model/stored_matrix.h"
#include "report/inspect_views.h"

namespace tokamak::inspection {
namespace {

/// The constant that a checkpoint tensor goes into, and what of it the tensor is.
struct Reader {
  std::string constant;
  DType stored, device;
  uint64_t parameters;
};
using Readers = std::map<std::string, Reader, std::less<>>;

/// The tensors that a packed matrix consists of; the numbers count with its weights.
void add_packed(Readers& out, const TensorFile& file, const std::string& name, DType device,
                const TensorDesc& constant) {
  const auto stored = locate(file, name, uint64_t(constant.shape[1]));
  if (!stored) return;
  const Reader reader{constant.name, stored->dtype, device, 0};
  for (const TensorInfo* info : {stored->scales, stored->zeros}) {
    if (info != nullptr) out.insert_or_assign(info->name, reader);
  }
  Reader weight = reader;
  weight.parameters = stored->rows * stored->columns;
  out.insert_or_assign(stored->weight->name, weight);
}

Readers readers(const ModelFiles& files, const Graph& graph) {
  Readers out;
  for (const TensorDesc& value : graph.values) {
    if (const auto* order = std::get_if<ColumnOrder>(&value.recipe)) {
      for (const std::string& groups : order->groups) {
        out.insert_or_assign(groups, Reader{value.name, DType::kI32, value.dtype, 0});
      }
    }
    const auto* weight = std::get_if<Weight>(&value.recipe);
    if (weight == nullptr) continue;
    for (const WeightPart& part : weight->parts) {
      const TensorInfo* info = files.tensors.find(part.name);
      const DType device = part.dtype.value_or(value.dtype);
      if (info != nullptr && is_float_weight(info->dtype)) {
        out.insert_or_assign(part.name, Reader{value.name, info->dtype, device, info->elements()});
      } else {
        add_packed(out, files.tensors, part.name, device, value);
      }
    }
  }
  return out;
}

/// "vision_tower" of "model.vision_tower.layers.0.weight".
std::string part_of_model(std::string_view name) {
  constexpr std::string_view kPrefix = "model.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return std::string(name.substr(0, name.find('.')));
}

void count(WeightUse& use, const TensorInfo& tensor, uint64_t parameters) {
  ++use.tensors;
  use.parameters += parameters;
  use.bytes += tensor.bytes;
}

Table tensors_table(const ModelFiles& files, const Graph& graph) {
  const Readers used_by = readers(files, graph);
  Table table;
  table.column("tensor", "name")
      .column("type", "type")
      .column("bytes", "bytes", Table::Align::kRight)
      .column("file", "file")
      .column("on the device", "device")
      .column("goes into", "constant");
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    const auto reader = used_by.find(tensor.name);
    const bool used = reader != used_by.end();
    const std::string constant = !used                                    ? "(skipped)"
                                 : reader->second.constant == tensor.name ? "itself"
                                                                          : reader->second.constant;
    const std::string device = used ? std::string(dtype_name(reader->second.device)) : "";
    table.row({tensor.name, describe(tensor), bytes_cell(tensor.bytes),
               file_part(files.tensors.file_name(tensor)),
               Cell(device, used ? Json(device) : Json()),
               Cell(constant, used ? Json(reader->second.constant) : Json())});
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
  const Readers used_by = readers(files, graph);
  WeightUses uses;
  std::map<std::string, WeightUse> parts;
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    const auto reader = used_by.find(tensor.name);
    if (reader != used_by.end()) {
      count(uses.used, tensor, reader->second.parameters);
      uses.stored_types[std::string(dtype_name(reader->second.stored))] +=
          reader->second.parameters;
      uses.device_types[std::string(dtype_name(reader->second.device))] +=
          reader->second.parameters;
    } else {
      count(uses.skipped, tensor, tensor.elements());
      count(parts[part_of_model(tensor.name)], tensor, tensor.elements());
      uses.stored_types[std::string(dtype_name(tensor.dtype))] += tensor.elements();
    }
  }
  // Those of the columns' order: numbers, but no parameters.
  std::erase_if(uses.stored_types, [](const auto& type) { return type.second == 0; });
  std::erase_if(uses.device_types, [](const auto& type) { return type.second == 0; });
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

namespace tokamak {

std::string quantization_name(const ModelFiles& files, const Engine::Compiled& compiled) {
  const Json* type = files.tensors.metadata().find("general.file_type");
  if (type != nullptr && type->is_integer()) {
    const std::string_view label = gguf_file_type_name(type->as_integer());
    if (!label.empty()) return std::string(label);
  }
  const auto types = inspection::weight_uses(files, compiled.unfused).stored_types;
  const auto most = std::ranges::max_element(types, {}, [](const auto& one) { return one.second; });
  return most == types.end() ? "" : most->first;
}

}  // namespace tokamak
