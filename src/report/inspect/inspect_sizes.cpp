// Layers, widths and heads, as graphs show them.
#include <algorithm>
#include <map>
#include <set>

#include "graph/kv_cache.h"
#include "report/inspect/inspect_views.h"

namespace tokamak::inspection {
namespace {

std::string join_numbers(const std::set<uint64_t>& numbers) {
  std::vector<std::string> parts;
  for (const uint64_t number : numbers) parts.push_back(std::to_string(number));
  return joined(parts, "/");
}

Json numbers_json(const std::set<uint64_t>& numbers) {
  if (numbers.size() == 1) return *numbers.begin();
  Json::Array list;
  for (const uint64_t number : numbers) list.emplace_back(number);
  return list;
}

/// Sizes that a graph shows, whatever config.json calls them.
struct Dimensions {
  std::set<uint64_t> width, feed_forward, heads, kv_heads, head_dim;
  std::map<uint32_t, uint32_t> windows;  // window (0: none) -> layers
  uint32_t heard = 0;                    // layers that attend to what was heard
};

/// Whether the values are those between the two products of a feed-forward network.
bool is_feed_forward(const Graph& graph, const Node& node) {
  const auto* glu = std::get_if<Glu>(&node.op);
  const auto* activate = std::get_if<Activate>(&node.op);
  if (glu == nullptr && activate == nullptr) return false;
  const Activation kind = glu != nullptr ? glu->activation : activate->activation;
  constexpr Activation kGates[] = {Activation::kIdentity, Activation::kSigmoid, Activation::kTanh};
  if (std::ranges::count(kGates, kind) > 0) return false;
  return std::ranges::any_of(graph.nodes, [&](const Node& reader) {
    return std::holds_alternative<Linear>(reader.op) && reader.inputs[0] == node.outputs[0];
  });
}

void add_dimensions_of(const Graph& graph, bool hears, Dimensions& found) {
  const auto columns = [&](ValueId id) { return uint64_t(graph.at(id).shape[1]); };
  for (const Node& node : graph.nodes) {
    if (std::holds_alternative<Embed>(node.op)) found.width.insert(columns(node.outputs[0]));
    if (is_feed_forward(graph, node)) found.feed_forward.insert(columns(node.outputs[0]));
    if (std::holds_alternative<LatentAttention>(node.op)) {
      // All heads read one row of each position.
      const uint64_t width = columns(node.inputs[2]);
      found.kv_heads.insert(1);
      found.head_dim.insert(width);
      found.heads.insert((columns(node.inputs[0]) + columns(node.inputs[1])) / width);
      ++found.windows[0];
    }
    const auto* attention = std::get_if<Attention>(&node.op);
    if (attention == nullptr) continue;
    const TensorDesc& cache = graph.at(node.inputs[1]);
    const auto head_dim = uint64_t(cached_head_dim(cache.dtype, cache.shape));
    found.kv_heads.insert(uint64_t(cache.shape[2]));
    found.head_dim.insert(head_dim);
    found.heads.insert(columns(node.inputs[0]) / head_dim);
    if (hears && !attention->causal) {
      ++found.heard;
    } else {
      ++found.windows[attention->window];
    }
  }
}

std::string layers_text(uint32_t layers, const Dimensions& found) {
  std::vector<std::string> kinds;
  for (const auto& [window, count] : found.windows) {
    kinds.push_back(window == 0 ? fmt::format("{} with full attention", count)
                                : fmt::format("{} with a window of {}", count, window));
  }
  if (found.heard > 0) kinds.push_back(fmt::format("{} attend to what is heard", found.heard));
  return fmt::format("{}: {}", layers, joined(kinds));
}

std::string width_text(const Dimensions& found) {
  const std::string width = join_numbers(found.width);
  if (found.feed_forward.empty()) return width;
  return fmt::format("{}, feed-forward {}", width, join_numbers(found.feed_forward));
}

std::string heads_text(const Dimensions& found) {
  const auto heads = [](const std::set<uint64_t>& numbers, const char* kind) {
    const bool one = numbers.size() == 1 && numbers.contains(1);
    return fmt::format("{} {} head{}", join_numbers(numbers), kind, one ? "" : "s");
  };
  return fmt::format("{}, {}, head_dim {}", heads(found.heads, "query"),
                     heads(found.kv_heads, "KV"), join_numbers(found.head_dim));
}

/// The encoder of a model that hears.
void add_sound_encoder(Facts& facts, const SpeechModel& speech) {
  Dimensions found;
  for (const SoundStage& stage : speech.stages) {
    add_dimensions_of(stage.graph, /*hears=*/false, found);
    for (const Node& node : stage.graph.nodes) {
      const bool is_norm =
          std::holds_alternative<LayerNorm>(node.op) || std::holds_alternative<RmsNorm>(node.op);
      if (is_norm) found.width.insert(uint64_t(stage.graph.at(node.outputs[0]).shape[1]));
    }
  }
  uint32_t layers = 0;
  for (const auto& [window, count] : found.windows) layers += count;
  Json out;
  out.set("layers", layers).set("width", numbers_json(found.width));
  out.set("feed_forward", numbers_json(found.feed_forward));
  out.set("heads", numbers_json(found.heads)).set("kv_heads", numbers_json(found.kv_heads));
  out.set("head_dim", numbers_json(found.head_dim));
  facts.add("encoder", layers_text(layers, found), "encoder", std::move(out));
  facts.add("... width", width_text(found), "", nullptr);
  facts.add("... heads", heads_text(found), "", nullptr);
}

}  // namespace

void add_dimensions(Facts& facts, const Engine::Compiled& compiled) {
  Dimensions found;
  add_dimensions_of(compiled.main.unfused(), compiled.facts.hears, found);
  if (compiled.speech) add_sound_encoder(facts, *compiled.speech);
  facts.add(compiled.speech ? "decoder" : "layers", layers_text(compiled.facts.layers, found),
            "layers", compiled.facts.layers);
  facts.add("width", width_text(found), "width", numbers_json(found.width));
  facts.add("", "", "feed_forward", numbers_json(found.feed_forward));
  facts.add("heads", heads_text(found), "heads", numbers_json(found.heads));
  facts.add("", "", "kv_heads", numbers_json(found.kv_heads));
  facts.add("", "", "head_dim", numbers_json(found.head_dim));
}

}  // namespace tokamak::inspection
