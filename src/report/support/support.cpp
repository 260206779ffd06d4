#include "report/support/support.h"

#include <map>

#include "base/table.h"
#include "engine/codec.h"
#include "model/unused_tensors.h"
#include "report/support/config_fields.h"
#include "report/support/nearest.h"
#include "report/support/support_operations.h"
#include "report/support/wished_model.h"

namespace tokamak {
namespace {

constexpr size_t kShown = 8;

/// The first names, and how many more there are.
std::string some_of(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + long(std::min(names.size(), kShown)));
  if (names.size() > kShown) shown.push_back(fmt::format("and {} more", names.size() - kShown));
  return joined(shown);
}

std::string counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The name that config.json gives the architecture.
std::string name_of(const Json& config) {
  const Json* names = config.find("architectures");
  const bool is_list = names != nullptr && names->is_array() && !names->as_array().empty();
  if (is_list && names->as_array()[0].is_string()) return names->as_array()[0].as_string();
  const Json* type = config.find("model_type");
  return type != nullptr && type->is_string() ? type->as_string() : "unnamed";
}

/// The architecture, or the one to compare with.
struct Chosen {
  const Architecture* architecture = nullptr;
  bool is_known = false;
  Wishes::Names promised;  // by the checkpoint
};

Chosen add_architecture(const ModelFiles& files, const UnreadTensors& unread,
                        std::vector<SupportRow>& rows) {
  const auto found = find_architecture(files.description.reader());
  const std::string name = name_of(files.description.config), id = "architecture/" + name;
  if (found) {
    rows.push_back(alike("architecture", id, true, std::string((*found)->name)));
    return {*found, true, promised_names(files.tensors, unread)};
  }
  rows.push_back(alike("architecture", id, false, found.error().message));
  const Nearest nearest = nearest_architecture(files.description.config, files.tensors, unread);
  if (nearest.architecture == nullptr) return {};
  const std::string known(nearest.architecture->name);
  rows.push_back({.part = "nearest",
                  .id = "nearest/" + known,
                  .what = fmt::format("{}: the checkpoint has {} of the {} tensors that it would "
                                      "read",
                                      known, nearest.found, nearest.wished)});
  if (!nearest.config_error.empty()) {
    rows.push_back({.part = "config", .id = "config/refused", .what = nearest.config_error});
  }
  if (!nearest.unknown.empty()) {
    rows.push_back(
        {.part = "would need", .id = "nearest/tensors", .what = some_of(nearest.unknown)});
  }
  return {nearest.architecture, false, promised_names(files.tensors, unread)};
}

void add_config(const ModelFiles& files, const Chosen& chosen, std::vector<SupportRow>& rows) {
  if (chosen.architecture == nullptr) return;
  FieldTrials trials(*chosen.architecture, files.description.config, chosen.promised);
  std::string what = "which fields are read is not known while the config is refused";
  if (trials.refusal().empty()) {
    const std::vector<std::string> unread = trials.unread();
    what = unread.empty() ? "every field is read, or of no matter here"
                          : fmt::format("read by nothing: {}", joined(unread));
  }
  rows.push_back({.part = "config", .id = "config", .what = what});
}

/// Tensors of one type.
struct OfType {
  uint64_t count = 0, bytes = 0;
  std::vector<std::string> names;

  void add(std::string_view name, uint64_t more) {
    ++count;
    bytes += more;
    names.emplace_back(name);
  }
};

/// Tensors of whole numbers are what packed matrices consist of, where those are read.
bool is_read_type(DType dtype, bool reads_packings) {
  if (is_matrix_dtype(dtype)) return true;
  const bool is_word = dtype == DType::kU32 || dtype == DType::kI32;
  return is_word && reads_packings;
}

void add_weights(const ModelFiles& files, const UnreadTensors& unread,
                 std::vector<SupportRow>& rows) {
  std::map<DType, OfType> types;
  std::map<std::string, OfType> unread_types;
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    types[tensor.dtype].add(tensor.name, tensor.bytes);
  }
  for (const UnreadTensor& tensor : unread) {
    unread_types[tensor.type].add(tensor.name, tensor.bytes);
  }
  if (types.empty() && unread.empty()) {
    rows.push_back(alike("weights", "weights", false, "there are none"));
  }
  const std::optional<Json>& beside = files.description.quantize_config;
  const auto packing =
      read_quantization(files.description.reader(), files.tensors, beside ? &*beside : nullptr);
  const auto add = [&](std::string_view type, const OfType& all, bool is_read) {
    const std::string size =
        fmt::format("{} in {}, {}", counted(all.count, "tensor"), type, bytes_text(all.bytes));
    rows.push_back(alike("weights", fmt::format("weights/{}", type), is_read,
                         is_read ? size : fmt::format("{}: {}", size, some_of(all.names))));
  };
  for (const auto& [dtype, all] : types) {
    add(dtype_name(dtype), all, is_read_type(dtype, packing.has_value()));
  }
  for (const auto& [type, all] : unread_types) add(type, all, false);
  if (!packing) {
    rows.push_back(alike("packing", "weights/packing", false, packing.error().message));
  }
}

/// Most pixels of the images that models are looked at with.
constexpr uint64_t kImagePixels = 1 << 20;
/// The parts of checkpoints that a tower of images consists of.
constexpr std::string_view kTowerParts[] = {"connector",    "embed_vision", "multi_modal_projector",
                                            "vision_model", "vision_tower", "visual"};

/// The parts of the checkpoint that its graphs leave out.
void add_left_out(const ModelFiles& files, const CompiledModel& compiled,
                  std::vector<SupportRow>& rows) {
  std::span<const SoundStage> stages;
  if (compiled.speech) stages = compiled.speech->stages;
  const UnusedTensors unused = unused_tensors(files.tensors, compiled.main.unfused(), stages);
  for (const auto& [part, tensors] : unused.parts) {
    if (compiled.vision && std::ranges::find(kTowerParts, part) != std::end(kTowerParts)) continue;
    rows.push_back(alike(part, "part/" + part, false,
                         fmt::format("{}; this engine runs the language model without {}",
                                     counted(tensors, "tensor"), tensors == 1 ? "it" : "them")));
  }
  if (!unused.unknown.empty()) {
    rows.push_back(alike("other tensors", "weights/unknown", false,
                         unknown_tensors_notice(unused, compiled.facts.architecture)));
  }
}

/// The whole model: everything that is looked at part by part, together.
void add_model(const ModelFiles& files, const UnreadTensors& unread, const OpenOptions& options,
               std::vector<SupportRow>& left_out, std::vector<SupportRow>& rows) {
  if (!unread.empty()) {
    rows.push_back(alike("model", "model", false,
                         fmt::format("\"{}\" is of type {}, which this engine does not read",
                                     unread[0].name, unread[0].type)));
    return;
  }
  SupportRow row{.part = "model", .id = "model"}, images{.part = "images", .id = "images"};
  const auto architecture = find_architecture(files.description.reader());
  const bool may_see = architecture && (*architecture)->vision != nullptr;
  OpenOptions own = options;
  own.image_pixels = may_see ? kImagePixels : 0;
  own.needs_images = false;
  const auto look = [&](const DeviceInfo& device, std::optional<bool> SupportRow::* runs) {
    std::string reason;
    if (is_codec(files)) {
      const auto plan = Codec::plan(files, device, {.advice = options.advice});
      if (!plan) reason = plan.error().message;
      if (row.what.empty()) row.what = "makes a sound from codes";
    } else if (const auto compiled = Engine::compile(files, device, own)) {
      if (may_see) {
        images.*runs = compiled->vision.has_value();
        images.what = compiled->vision ? "read" : compiled->text_only.message;
      }
      if (left_out.empty()) add_left_out(files, *compiled, left_out);
      if (row.what.empty()) {
        row.what = fmt::format("{}, {} positions", counted(compiled->facts.layers, "layer"),
                               compiled->context);
      }
    } else {
      reason = compiled.error().message;
    }
    row.*runs = reason.empty();
    if (!reason.empty()) row.what = std::move(reason);
  };
  for (const SupportBackend& backend : support_backends()) look(backend.device, backend.runs);
  rows.push_back(std::move(row));
  if (images.cpu || images.cuda || images.webgpu) rows.push_back(std::move(images));
}

void add_operations(const ModelFiles& files, const Chosen& chosen, std::vector<SupportRow>& rows) {
  if (chosen.architecture == nullptr) return;
  const WishedModel model =
      wished_model(*chosen.architecture, files.description.reader(), chosen.promised);
  if (!model.graph) {
    if (chosen.is_known && !is_codec(files)) {
      rows.push_back(alike("operations", "operations", false, model.error.message));
    }
    return;
  }
  const std::vector<SupportRow> own = operation_rows(*model.graph);
  rows.insert(rows.end(), own.begin(), own.end());
}

SupportRow tokenizer_row(const ModelFiles& files) {
  const auto tokenizer = make_tokenizer(files);
  if (!tokenizer) return alike("tokenizer", "tokenizer", false, tokenizer.error().message);
  return alike("tokenizer", "tokenizer", true,
               fmt::format("{} tokens", count_text(tokenizer->vocab_size())));
}

SupportRow template_row(const ModelFiles& files) {
  Json message, variables;
  message.set("role", "user").set("content", "Hello");
  variables.set("messages", Json::Array{message}).set("add_generation_prompt", true);
  const auto rendered = render_chat(files, variables);
  if (!rendered) return alike("chat template", "chat_template", false, rendered.error().message);
  return alike("chat template", "chat_template", true, "renders a message of the user");
}

Table rows_table(const std::vector<SupportRow>& rows) {
  Table table;
  table.column("part", "part").column("", "id");
  for (const SupportBackend& backend : support_backends()) {
    table.column(std::string(backend_name(backend.device.backend)),
                 std::string(backend_name(backend.device.backend)));
  }
  table.column("", "what");
  for (const SupportRow& row : rows) {
    std::vector<Cell> cells = {row.part, Cell("", Json(row.id))};
    for (const SupportBackend& backend : support_backends()) {
      const std::optional<bool> runs = row.*backend.runs;
      cells.push_back(runs ? Cell(*runs ? "yes" : "no", Json(*runs)) : Cell("", Json()));
    }
    cells.push_back(row.what);
    table.row(std::move(cells));
  }
  return table;
}

}  // namespace

SupportRow alike(std::string part, std::string id, bool runs, std::string what) {
  return {.part = std::move(part),
          .id = std::move(id),
          .cpu = runs,
          .cuda = runs,
          .webgpu = runs,
          .what = std::move(what)};
}

std::vector<SupportRow> support(const ModelFiles& files, const UnreadTensors& unread,
                                const OpenOptions& options) {
  std::vector<SupportRow> left_out, rows;
  const Chosen chosen = add_architecture(files, unread, rows);
  add_config(files, chosen, rows);
  add_weights(files, unread, rows);
  add_operations(files, chosen, rows);
  add_model(files, unread, options, left_out, rows);
  rows.push_back(tokenizer_row(files));
  rows.push_back(template_row(files));
  rows.insert(rows.end(), left_out.begin(), left_out.end());
  return rows;
}

std::string support_text(const std::vector<SupportRow>& rows) {
  return rows_table(rows).text(kScreenColumns);
}

Json support_json(const std::vector<SupportRow>& rows) {
  return rows_table(rows).json();
}

}  // namespace tokamak
