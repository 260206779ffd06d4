#include "model/unused_tensors.h"

#include <algorithm>
#include <set>

namespace tokamak {
namespace {

/// Towers and heads beside the language model, by the first word of their tensors' names; of
/// encoders also the pooler and what guesses masked words, of models that speak what the host
/// reads.
constexpr std::string_view kParts[] = {
    "audio_tower",
    "cls",
    "colbert_linear",
    "connector",
    "decoder",
    "embed_audio",
    "embed_vision",
    "head",
    "learnable_rope_layers",
    "lm_head",
    "mtp",
    "pooler",
    "multi_modal_projector",
    "sparse_linear",
    "speaker_emb_projection",
    "vision_model",
    "visual",
    "vision_tower",
};

/// The tensors of quantised matrices beside or in place of "x.weight".
constexpr std::string_view kCompanions[] = {
    ".scales", ".biases", ".qweight", ".qzeros", ".g_idx", ".weight_packed", ".weight_scale",
    ".weight_scale_inv", ".weight_scale_2", ".weight_global_scale", ".weight_zero_point",
    ".weight_shape", ".scale", ".SCB", ".weight_format", ".weight.absmax", ".weight.quant_map",
    ".weight.nested_absmax", ".weight.nested_quant_map", ".weight.quant_state.bitsandbytes__nf4",
    // Those of activations and caches, which are not quantised so here.
    ".input_scale", ".activation_scale", ".input_global_scale", ".k_scale", ".v_scale"};

constexpr size_t kShown = 3;

std::string_view without(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

using Names = std::set<std::string, std::less<>>;

void add_read_names(const Graph& graph, Names& names) {
  for (const TensorDesc& value : graph.values) {
    const auto* weight = std::get_if<Weight>(&value.recipe);
    if (weight == nullptr) continue;
    for (const WeightPart& part : weight->parts) names.insert(part.name);
  }
}

bool is_companion(std::string_view name, const Names& read) {
  for (const std::string_view ending : {"_blocks", "_scales"}) {  // gpt-oss's, of no ".weight"
    if (name.ends_with(ending) && read.contains(name.substr(0, name.size() - ending.size()))) {
      return true;
    }
  }
  return std::ranges::any_of(kCompanions, [&](std::string_view ending) {
    if (!name.ends_with(ending)) return false;
    name.remove_suffix(ending.size());
    return read.contains(std::string(name) + ".weight");
  });
}

/// Tensors that say nothing the config does not: tables of older exports, those of a GGUF file that
/// are read as its config, and the copy of a tied head.
bool is_redundant(std::string_view name) {
  return name.ends_with("rotary_emb.inv_freq") || name == "rope_freqs.weight" ||
         name.starts_with("rope_factors_") || name.ends_with("lm_head.weight") ||
         name == "proj_out.weight" || name.ends_with("embeddings.position_ids");
}

}  // namespace

UnusedTensors unused_tensors(const TensorFile& file, const Graph& graph,
                             std::span<const SoundStage> stages) {
  Names read;
  add_read_names(graph, read);
  for (const SoundStage& stage : stages) add_read_names(stage.graph, read);
  UnusedTensors unused;
  for (const TensorInfo& tensor : file.tensors()) {
    if (read.contains(tensor.name) || is_companion(tensor.name, read)) continue;
    if (is_redundant(tensor.name)) continue;
    std::string_view name = without(without(tensor.name, "model."), "language_model.");
    for (const std::string_view encoder : {"bert.", "roberta."}) name = without(name, encoder);
    name = name.substr(0, name.find('.'));
    if (std::ranges::find(kParts, name) != std::end(kParts)) {
      ++unused.parts[std::string(name)];
    } else {
      unused.unknown.push_back(tensor.name);
    }
  }
  return unused;
}

std::string unknown_tensors_notice(const UnusedTensors& unused, std::string_view architecture) {
  const size_t count = unused.unknown.size();
  if (count == 0) return "";
  std::string names;
  for (size_t i = 0; i < std::min(count, kShown); ++i) {
    names += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", unused.unknown[i]);
  }
  if (count > kShown) names += fmt::format(" and {} more", count - kShown);
  return fmt::format("{} does not know {} tensor{} of the checkpoint and leaves {} out: {}.",
                     architecture, count, count == 1 ? "" : "s", count == 1 ? "it" : "them", names);
}

}  // namespace tokamak
