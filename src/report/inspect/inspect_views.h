// The views of inspect(), one file each.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "base/table.h"
#include "report/inspect/inspect.h"

namespace tokamak::inspection {

/// The bytes and FLOPs of each node in a step of `tokens` tokens that ends at `kv_length`.
Result<std::vector<Cost>> node_costs(const Graph& graph, uint64_t tokens, uint64_t kv_length);
Result<std::string> graph_table(const Graph& graph, const InspectRequest& request);
Result<Json> graph_json(const Graph& graph, const InspectRequest& request);
std::string graph_dot(const Graph& graph);

std::string plan_table(const Plan& plan, const InspectRequest& request);
Json plan_json(const Plan& plan, const DeviceInfo& device, const InspectRequest& request);
std::string plan_dot(const Plan& plan);

/// A list of the plan's buffers.
Json buffers_json(const Plan& plan);

/// The plan's buffers. Of ranks they are those of each.
std::string memory_table(const Plan& plan);
Json memory_json(const Plan& plan);

/// Layers, widths and heads; of a model that hears those of both halves.
void add_dimensions(Facts& facts, const Engine::Compiled& compiled);

/// The values of all that runs: of `graph`, and of what sees or hears beside it.
using ValueLists = std::vector<std::span<const TensorDesc>>;
ValueLists values_of(const Engine::Compiled& compiled, const Graph& graph);

std::string weights_table(const ModelFiles& files, const ValueLists& values);
Json weights_json(const ModelFiles& files, const ValueLists& values);

/// Which of the checkpoint's tensors these values are made of.
struct WeightUse {
  uint64_t tensors = 0, parameters = 0, bytes = 0;
};
struct WeightUses {
  WeightUse used, skipped;
  WeightUse matrices;  // of those used, with the scales and zeros that belong to them
  std::vector<std::pair<std::string, WeightUse>> skipped_parts;  // by the first word of their names
  std::map<std::string, uint64_t> stored_types, device_types;    // name -> parameters
};
WeightUses weight_uses(const ModelFiles& files, const ValueLists& values);

Result<Facts> summary(const ModelFiles& files, const Engine::Compiled& compiled,
                      const DeviceInfo& device, const OpenOptions& options);

/// The beginning of a graph in DOT.
std::string dot_start(std::string_view name);
/// `text` inside the quotes of DOT.
std::string dot_escape(std::string_view text);
/// The last part of a path.
std::string file_part(std::string_view path);

}  // namespace tokamak::inspection
