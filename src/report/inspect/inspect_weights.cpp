#include <algorithm>
#include <map>

#include "model/gguf/import.h"
#include "model/stored_matrix.h"
#include "report/inspect/inspect_views.h"

namespace tokamak::inspection {
namespace {

/// The constant that a checkpoint tensor goes into, and what of it the tensor is.
struct Reader {
  std::string constant;
  DType stored, device;
  uint64_t parameters;
  bool is_matrix;
};
using Readers = std::map<std::string, Reader, std::less<>>;

/// The tensors that a packed matrix consists of; the numbers count with its weights.
void add_packed(Readers& out, const TensorFile& file, const std::string& name, DType device,
                const TensorDesc& constant) {
  // A rank has some of the columns that the file has.
  const RankCut& cut = std::get<Weight>(constant.recipe).column_cut;
  const auto stored = locate(file, name, cut.is_whole() ? uint64_t(constant.shape[1]) : cut.total);
  if (!stored) return;
  const Reader reader{constant.name, stored->dtype, device, 0, true};
  for (const TensorInfo* info : {stored->scales, stored->zeros}) {
    if (info != nullptr) out.insert_or_assign(info->name, reader);
  }
  Reader weight = reader;
  weight.parameters = stored->rows * stored->columns;
  out.insert_or_assign(stored->weight->name, weight);
}

void add_readers(const ModelFiles& files, std::span<const TensorDesc> values, Readers& out) {
  for (const TensorDesc& value : values) {
    if (const auto* order = std::get_if<ColumnOrder>(&value.recipe)) {
      for (const std::string& groups : order->groups) {
        out.insert_or_assign(groups, Reader{value.name, DType::kI32, value.dtype, 0, true});
      }
    }
    const auto* weight = std::get_if<Weight>(&value.recipe);
    if (weight == nullptr) continue;
    for (const WeightPart& part : weight->parts) {
      const TensorInfo* info = files.tensors.find(part.name);
      const DType device = part.dtype.value_or(value.dtype);
      if (info != nullptr && is_float_weight(info->dtype)) {
        out.insert_or_assign(part.name, Reader{value.name, info->dtype, device, info->elements(),
                                               value.shape.size() > 1});
      } else {
        add_packed(out, files.tensors, part.name, device, value);
      }
    }
  }
}

Readers readers(const ModelFiles& files, const ValueLists& values) {
  Readers out;
  for (const std::span<const TensorDesc> list : values) add_readers(files, list, out);
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

/// `constant` in the line of `tensor`: the last three parts of its name say enough where the others
/// are the tensor's, too.
std::string constant_text(const std::string& tensor, const std::string& constant) {
  if (("." + tensor).ends_with("." + constant)) return "itself";
  size_t dot = constant.size();
  for (int parts = 0; parts < 3; ++parts) {
    dot = dot == 0 ? constant.npos : constant.rfind('.', dot - 1);
    if (dot == constant.npos) return constant;
  }
  const bool shared = ("." + tensor).contains("." + constant.substr(0, dot + 1));
  return shared ? constant.substr(dot + 1) : constant;
}

std::string type_of(const TensorInfo& tensor) {
  return fmt::format("{}[{}]", dtype_name(tensor.dtype), fmt::join(tensor.shape, ","));
}

/// For people the files have numbers; one needs none.
Table tensors_table(const ModelFiles& files, const ValueLists& values, bool for_people) {
  const Readers used_by = readers(files, values);
  const bool has_files = !for_people || files.tensors.sources().size() > 1;
  Table table;
  table.column("tensor", "name")
      .column("type", "type")
      .column("bytes", "bytes", Table::Align::kRight);
  if (has_files) table.column("file", "file", Table::Align::kRight);
  table.column("device", "device").column("goes into", "constant");
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    const auto reader = used_by.find(tensor.name);
    const bool used = reader != used_by.end();
    const std::string device = used ? std::string(dtype_name(reader->second.device)) : "";
    std::vector<Cell> cells = {tensor.name, Cell(type_of(tensor), describe(tensor)),
                               bytes_cell(tensor.bytes)};
    if (has_files) {
      cells.emplace_back(std::to_string(tensor.shard + 1),
                         file_part(files.tensors.file_name(tensor)));
    }
    cells.emplace_back(device, used ? Json(device) : Json());
    if (used) {
      const std::string& constant = reader->second.constant;
      cells.emplace_back(constant_text(tensor.name, constant), constant);
    } else {
      cells.emplace_back("(skipped)", Json());
    }
    table.row(std::move(cells));
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

ValueLists values_of(const Engine::Compiled& compiled, const Graph& graph) {
  ValueLists out = {graph.values};
  if (compiled.vision) {
    for (const TowerStage& stage : compiled.vision->stages) {
      out.emplace_back(stage.patches.values);
      out.emplace_back(stage.merge.values);
    }
    out.push_back(std::span(&compiled.vision->positions, size_t{1}));
    if (compiled.vision->class_row) {
      out.push_back(std::span(&*compiled.vision->class_row, size_t{1}));
    }
  }
  if (compiled.speech) {
    for (const SoundStage& stage : compiled.speech->stages) out.emplace_back(stage.graph.values);
  }
  return out;
}

WeightUses weight_uses(const ModelFiles& files, const ValueLists& values) {
  const Readers used_by = readers(files, values);
  WeightUses uses;
  std::map<std::string, WeightUse> parts;
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    const auto reader = used_by.find(tensor.name);
    if (reader != used_by.end()) {
      count(uses.used, tensor, reader->second.parameters);
      if (reader->second.is_matrix) count(uses.matrices, tensor, reader->second.parameters);
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

std::string weights_table(const ModelFiles& files, const ValueLists& values) {
  const WeightUses uses = weight_uses(files, values);
  std::string out = tensors_table(files, values, true).text(kScreenColumns) + "\n";
  const auto& sources = files.tensors.sources();
  for (size_t i = 0; sources.size() > 1 && i < sources.size(); ++i) {
    out += fmt::format("file {}: {}\n", i + 1, file_part(sources[i]->name()));
  }
  out += fmt::format("used: {}\n", use_text(uses.used));
  for (const auto& [part, use] : uses.skipped_parts) {
    out += fmt::format("skipped: {}: {}\n", part, use_text(use));
  }
  return out;
}

Json weights_json(const ModelFiles& files, const ValueLists& values) {
  const WeightUses uses = weight_uses(files, values);
  Json out;
  out.set("used", use_json(uses.used)).set("skipped", use_json(uses.skipped));
  return out.set("tensors", tensors_table(files, values, false).json());
}

}  // namespace tokamak::inspection

namespace tokamak {

std::string_view quantization_label(const ModelFiles& files) {
  const Json* type = files.tensors.metadata().find("general.file_type");
  if (type == nullptr || !type->is_integer()) return {};
  return gguf_file_type_name(type->as_integer());
}

std::string quantization_name(const ModelFiles& files, const Engine::Compiled& compiled) {
  if (const std::string_view label = quantization_label(files); !label.empty()) {
    return std::string(label);
  }
  const auto types = inspection::weight_uses(files, {compiled.main.unfused().values}).stored_types;
  const auto most = std::ranges::max_element(types, {}, [](const auto& one) { return one.second; });
  return most == types.end() ? "" : most->first;
}

}  // namespace tokamak
