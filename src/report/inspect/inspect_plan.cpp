#include <algorithm>
#include <map>

#include "graph/kv_cache.h"
#include "report/inspect/cost_table.h"
#include "report/inspect/inspect_views.h"

namespace tokamak::inspection {
namespace {

/// The matrix that a step reads, else its last constant.
std::string weight_of(const Plan& plan, const Step& step) {
  std::string text = "-";
  for (const Operand& in : step.inputs) {
    if (plan.at(in.buffer).use != BufferUse::kConstant) continue;
    text = type_text(in);
    if (in.shape.size() == 2) break;
  }
  return text;
}

std::string grid_text(const Step& step, uint32_t tokens) {
  const Grid& grid = step.launch.grid;
  if (step.kernel->launch == nullptr) return "-";
  const StepSize size = {.rows = tokens};
  return fmt::format("{}x{}x{}", grid.x.at(size), grid.y.at(size), grid.z.at(size));
}

/// Which kernels run how often, and why not the better ones: each reason once.
std::string reasons_text(const Phase& phase) {
  std::map<std::pair<std::string, std::vector<std::string>>, uint32_t> groups;
  for (const Step& step : phase.steps) {
    ++groups[{std::string(step.kernel->name), step.passed_over}];
  }
  std::string out;
  for (const auto& [group, count] : groups) {
    if (group.second.empty()) continue;
    out +=
        fmt::format("{} in {} step{}, passing over\n", group.first, count, count == 1 ? "" : "s");
    for (const std::string& reason : group.second) {
      out += "  " + joined(wrapped(reason, kScreenColumns - 4), "\n    ") + "\n";
    }
  }
  return out;
}

uint64_t kv_length(const Phase& phase, const InspectRequest& request) {
  return uint64_t{request.depth} + phase.max_tokens;
}

Json operands_json(const std::vector<Operand>& operands) {
  Json::Array list;
  for (const Operand& operand : operands) {
    Json one;
    one.set("buffer", uint32_t(operand.buffer)).set("type", type_text(operand));
    list.push_back(std::move(one));
  }
  return list;
}

Json step_json(const Plan& plan, const Phase& phase, const Step& step,
               const InspectRequest& request) {
  const Cost cost = step_cost(plan, step, phase.max_tokens, kv_length(phase, request));
  Json one;
  one.set("op", op_name(step.op)).set("kernel", step.kernel->name);
  one.set("inputs", operands_json(step.inputs)).set("outputs", operands_json(step.outputs));
  if (step.kernel->launch != nullptr) {
    const Grid& grid = step.launch.grid;
    const StepSize size = {.rows = phase.max_tokens};
    one.set("grid", Json::Array{grid.x.at(size), grid.y.at(size), grid.z.at(size)});
  }
  one.set("bytes", cost.bytes).set("flops", cost.flops);
  if (cost.link_bytes > 0) one.set("link_bytes", cost.link_bytes);
  Json passed{Json::Array{}};
  for (const std::string& reason : step.passed_over) passed.as_array().emplace_back(reason);
  return one.set("passed_over", std::move(passed));
}

}  // namespace

Json buffers_json(const Plan& plan) {
  Json::Array list;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    Json one;
    one.set("id", uint64_t{i}).set("use", use_name(buffer.use)).set("bytes", buffer.bytes);
    if (buffer.on_host) one.set("on_host", true);
    if (!buffer.tensor.name.empty()) {
      one.set("tensor", buffer.tensor.name).set("type", type_text(buffer.tensor));
    }
    list.push_back(std::move(one));
  }
  return list;
}

std::string plan_table(const Plan& plan, const InspectRequest& request) {
  std::string out;
  for (const Phase& phase : plan.phases) {
    const uint32_t tokens = phase.max_tokens;
    const Cost sum = phase_cost(plan, phase, tokens, kv_length(phase, request));
    CostTable table("step", {"kernel", "output", "weight", "grid"});
    for (const Step& step : phase.steps) {
      table.row({step.kernel->name, type_text(step.outputs[0]), weight_of(plan, step),
                 grid_text(step, tokens)},
                step_cost(plan, step, tokens, kv_length(phase, request)));
    }
    const std::string from =
        phase.from_position > 0 ? fmt::format(", from position {} on", phase.from_position) : "";
    out += fmt::format("phase {}: steps of up to {} token{}{}\n{}", phase.name, tokens,
                       tokens == 1 ? "" : "s", from, table.text());
    out += fmt::format("{} launches move {} and compute {}FLOP for {} token{} after {} others\n",
                       phase.steps.size(), bytes_text(sum.bytes), amount_text(double(sum.flops)),
                       tokens, tokens == 1 ? "" : "s", request.depth);
    out += reasons_text(phase) + "\n";
  }
  out.pop_back();
  return out;
}

Json plan_json(const Plan& plan, const DeviceInfo& device, const InspectRequest& request) {
  Json::Array phases;
  for (const Phase& phase : plan.phases) {
    const Cost sum = phase_cost(plan, phase, phase.max_tokens, kv_length(phase, request));
    Json::Array steps;
    for (const Step& step : phase.steps) steps.push_back(step_json(plan, phase, step, request));
    Json one;
    one.set("name", phase.name).set("max_tokens", phase.max_tokens);
    if (phase.from_position > 0) one.set("from_position", phase.from_position);
    one.set("launches", uint64_t{phase.steps.size()});
    one.set("bytes", sum.bytes).set("flops", sum.flops);
    if (sum.link_bytes > 0) one.set("link_bytes", sum.link_bytes);
    one.set("tensors", phase.tensors).set("tensor_bytes", phase.tensor_bytes);
    phases.push_back(one.set("steps", std::move(steps)));
  }
  Json out;
  out.set("backend", backend_name(device.backend)).set("device", device.name);
  out.set("depth", request.depth);
  return out.set("buffers", buffers_json(plan)).set("phases", std::move(phases));
}

std::string plan_dot(const Plan& plan) {
  std::string out = dot_start("plan");
  for (const Phase& phase : plan.phases) {
    out +=
        fmt::format("  subgraph \"cluster_{0}\" {{\n    label=\"{0}\";\n", dot_escape(phase.name));
    std::map<BufferId, size_t> writer;
    for (size_t i = 0; i < phase.steps.size(); ++i) {
      const Step& step = phase.steps[i];
      out += fmt::format("    \"{}{}\" [label=\"{}\\n{}\"];\n", dot_escape(phase.name), i,
                         step.kernel->name, type_text(step.outputs[0]));
      for (const Operand& in : step.inputs) {
        const auto from = writer.find(in.buffer);
        if (from == writer.end()) continue;
        out += fmt::format("    \"{0}{1}\" -> \"{0}{2}\" [label=\"buffer {3}\"];\n",
                           dot_escape(phase.name), from->second, i, uint32_t(in.buffer));
      }
      for (const Operand& result : step.outputs) writer[result.buffer] = i;
    }
    out += "  }\n";
  }
  return out + "}\n";
}

namespace {

struct MemoryRow {
  uint64_t tensors = 0, buffers = 0, bytes = 0;
};

/// In the order in which the table shows them.
std::vector<std::pair<std::string, MemoryRow>> memory_rows(const Plan& plan) {
  MemoryRow weights, tables, cache, recurrent, copies, activations, host;
  for (const Buffer& buffer : plan.buffers) {
    MemoryRow& row = is_kv_cache(buffer)                                       ? cache
                     : is_recurrent_state(buffer)                              ? recurrent
                     : buffer.use == BufferUse::kCopy                          ? copies
                     : buffer.use == BufferUse::kActivation                    ? activations
                     : buffer.use != BufferUse::kConstant                      ? host
                     : std::holds_alternative<RopeTable>(buffer.tensor.recipe) ? tables
                                                                               : weights;
    row.tensors += buffer.use == BufferUse::kActivation ? 0 : 1;
    ++row.buffers;
    row.bytes += buffer.bytes;
  }
  for (const Phase& phase : plan.phases) activations.tensors += phase.tensors;
  MemoryRow total;
  for (const MemoryRow& row : {weights, tables, cache, recurrent, copies, activations, host}) {
    total.tensors += row.tensors;
    total.buffers += row.buffers;
    total.bytes += row.bytes;
  }
  return {{"weights", weights},
          {"rotary tables", tables},
          {"KV cache", cache},
          {"recurrent states", recurrent},
          {"copies of states and windows", copies},
          {"activations", activations},
          {"batch, page tables, chosen tokens", host},
          {"total", total}};
}

Table rows_table(const Plan& plan) {
  Table table;
  table.column("what", "what")
      .column("tensors", "tensors", Table::Align::kRight)
      .column("buffers", "buffers", Table::Align::kRight)
      .column("bytes", "bytes", Table::Align::kRight);
  for (const auto& [what, row] : memory_rows(plan)) {
    table.row({what, row.tensors, row.buffers, bytes_cell(row.bytes)});
  }
  return table;
}

/// The part of sequences that layers of one kind keep.
struct KeptRow {
  uint64_t layers = 0, positions = 0, position_bytes = 0, bytes = 0;
};

/// By the window of the caches, 0: all positions; recurrent states last.
std::vector<std::pair<std::string, KeptRow>> kept_rows(const Plan& plan) {
  std::map<uint32_t, KeptRow> caches;
  KeptRow recurrent;
  for (const Buffer& buffer : plan.buffers) {
    if (is_recurrent_state(buffer)) {
      ++recurrent.layers;
      recurrent.bytes += buffer.bytes;
    }
    if (!is_kv_cache(buffer)) continue;
    KeptRow& row = caches[buffer.tensor.window];
    ++row.layers;
    row.positions = uint64_t(buffer.tensor.shape[0]);
    row.position_bytes += buffer.bytes / row.positions;
    row.bytes += buffer.bytes;
  }
  std::vector<std::pair<std::string, KeptRow>> rows;
  for (const auto& [window, row] : caches) {
    rows.emplace_back(window == 0 ? "all positions" : fmt::format("window of {}", window), row);
  }
  if (recurrent.layers > 0) rows.emplace_back("recurrent states", recurrent);
  return rows;
}

Table kept_table(const Plan& plan) {
  Table table;
  table.column("kept by layers", "kept")
      .column("layers", "layers", Table::Align::kRight)
      .column("positions", "positions", Table::Align::kRight)
      .column("bytes a position", "position_bytes", Table::Align::kRight)
      .column("bytes", "bytes", Table::Align::kRight);
  for (const auto& [what, row] : kept_rows(plan)) {
    table.row({what, row.layers, row.positions, row.position_bytes, bytes_cell(row.bytes)});
  }
  return table;
}

}  // namespace

std::string memory_table(const Plan& plan) {
  uint64_t pooled = 0, buffers = 0;
  std::map<std::pair<std::string, uint64_t>, uint32_t> caches, recurrent;
  for (const Buffer& buffer : plan.buffers) {
    const std::string type = type_text(buffer.tensor);
    if (is_kv_cache(buffer)) {
      const bool of_heads = holds_keys_and_values(buffer.tensor);
      const char* axes =
          of_heads ? "slots, k and v, heads, width" : "slots, latent and turned part";
      ++caches[{fmt::format("{} ({})", type, axes), buffer.bytes}];
    } else if (buffer.use == BufferUse::kState) {
      ++recurrent[{type, buffer.bytes}];
    }
    if (buffer.use != BufferUse::kActivation) continue;
    ++buffers;
    pooled += buffer.bytes;
  }
  std::string out =
      plan.ranks == 1 ? "" : fmt::format("Of each of the {} devices:\n\n", plan.ranks);
  out += rows_table(plan).text() + "\n";
  if (const Table kept = kept_table(plan); kept.rows() > 0) {
    out +=
        fmt::format("{}for {} sequence{}\n\n", kept.text(), plan.slots, plan.slots == 1 ? "" : "s");
  }
  for (const auto& [cache, count] : caches) {
    out += fmt::format("{} KV cache{} of {}, {} each\n", count, count == 1 ? "" : "s", cache.first,
                       bytes_text(cache.second));
  }
  for (const auto& [state, count] : recurrent) {
    out += fmt::format("{} recurrent state{} of {}, {} each\n", count, count == 1 ? "" : "s",
                       state.first, bytes_text(state.second));
  }
  for (const Phase& phase : plan.phases) {
    out += fmt::format("{}: {} activations of {} in all share {} buffers of {}\n", phase.name,
                       phase.tensors, bytes_text(phase.tensor_bytes), buffers, bytes_text(pooled));
  }
  return out;
}

Json memory_json(const Plan& plan) {
  Json out;
  if (plan.ranks > 1) out.set("ranks", plan.ranks);  // the figures are those of each
  out.set("memory", rows_table(plan).json()).set("kept", kept_table(plan).json());
  Json::Array phases;
  for (const Phase& phase : plan.phases) {
    Json one;
    one.set("name", phase.name).set("activations", phase.tensors);
    phases.push_back(one.set("activation_bytes", phase.tensor_bytes));
  }
  return out.set("phases", std::move(phases)).set("buffers", buffers_json(plan));
}

}  // namespace tokamak::inspection
