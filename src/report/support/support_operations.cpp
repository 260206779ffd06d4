#include "report/support/support_operations.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/table.h"
#include "kernels/select.h"

namespace tokamak {
namespace {

/// The rows of a step, as many as a prompt is read by.
constexpr uint32_t kRows = 512;

DeviceInfo least_device(BackendKind backend) {
  DeviceInfo device;
  device.backend = backend;
  device.name = fmt::format("any {} device", backend_name(backend));
  return device;
}

/// The node as selection sees it: rows of results are rows of the step, and what an output takes
/// the place of is no input.
Problem problem_of(const Graph& graph, const Node& node) {
  Problem problem{.op = &node.op, .inputs = {}, .outputs = {}, .max_tokens = kRows};
  const auto seen = [](TensorDesc tensor) {
    std::ranges::replace(tensor.shape, kOutputs, kTokens);
    return tensor;
  };
  std::vector<bool> is_output(node.inputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    problem.outputs.push_back(seen(graph.at(node.outputs[i])));
    if (const auto state = changed_state(graph, node, i)) is_output[*state] = true;
  }
  if (const auto added = added_to(node.op)) is_output[*added] = true;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!is_output[i]) problem.inputs.push_back(seen(graph.at(node.inputs[i])));
  }
  return problem;
}

}  // namespace

std::span<const SupportBackend> support_backends() {
  static const std::array<SupportBackend, 3> kBackends = {
      {{least_device(BackendKind::kCpu), &SupportRow::cpu},
       {least_device(BackendKind::kCuda), &SupportRow::cuda},
       {least_device(BackendKind::kWebGpu), &SupportRow::webgpu}}};
  return kBackends;
}

std::vector<SupportRow> operation_rows(const Graph& graph) {
  std::map<std::string, SupportRow> ops;  // by name; the first problem that is refused decides
  for (const Node& node : graph.nodes) {
    const std::string name(op_name(node.op));
    SupportRow& row =
        ops.try_emplace(name, alike("operation", "op/" + name, true, name)).first->second;
    const Problem problem = problem_of(graph, node);
    for (const SupportBackend& backend : support_backends()) {
      const auto chosen = select_variant(problem, backend.device);
      if (chosen || !*(row.*backend.runs)) continue;
      row.*backend.runs = false;
      row.what = chosen.error().message;
    }
  }
  std::vector<std::string> everywhere;
  std::vector<SupportRow> rows;
  for (auto& [name, row] : ops) {
    if (row.cpu == true && row.cuda == true && row.webgpu == true) {
      everywhere.push_back(name);
    } else {
      rows.push_back(std::move(row));
    }
  }
  rows.insert(rows.begin(), alike("operations", "operations", true, joined(everywhere)));
  return rows;
}

}  // namespace tokamak
