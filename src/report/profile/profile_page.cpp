#include "report/profile/profile_page.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/check.h"
#include "graph/kv_cache.h"
#include "graph/text.h"
#include "kernels/sources.h"
#include "report/inspect/inspect_views.h"

namespace tokamak {
namespace {

Json buffer_ids(const std::vector<Operand>& operands) {
  Json::Array list;
  for (const Operand& operand : operands) list.emplace_back(uint32_t(operand.buffer));
  return list;
}

std::string step_problem(const Step& step) {
  std::string text = std::string(op_name(step.op)) + attributes_text(step.op);
  for (const Operand& in : step.inputs) text += ' ' + type_text(in);
  text += " ->";
  for (const Operand& out : step.outputs) text += ' ' + type_text(out);
  return text;
}

/// The matrix or cache that a step reads; "" when there is none.
std::string read_by(const Plan& plan, const Step& step) {
  for (const Operand& in : step.inputs) {
    const BufferUse use = plan.at(in.buffer).use;
    if (use == BufferUse::kState) return type_text(in);
    if (use == BufferUse::kConstant && in.shape.size() == 2) return type_text(in);
  }
  return "";
}

bool is_matrix(const Operand& operand) {
  return operand.shape.size() >= 2;
}

/// "weights": what a step reads of the model, matrices first; "layer": theirs, else the states'.
void add_weights(Json& out, const Plan& plan, const Step& step) {
  std::vector<const Operand*> weights, states;
  for (const Operand& in : step.inputs) {
    const BufferUse use = plan.at(in.buffer).use;
    if (use == BufferUse::kConstant) weights.push_back(&in);
    if (use == BufferUse::kState) states.push_back(&in);
  }
  std::ranges::stable_partition(weights, [](const Operand* one) { return is_matrix(*one); });
  for (const Operand& made : step.outputs) {
    if (plan.at(made.buffer).use == BufferUse::kState) states.push_back(&made);
  }
  Json::Array list;
  std::optional<uint32_t> layer;
  for (const std::vector<const Operand*>& operands : {weights, states}) {
    for (const Operand* one : operands) {
      const std::string& name = plan.at(one->buffer).tensor.name;
      if (!layer) layer = layer_of(name);
      list.emplace_back(fmt::format("{} {}", name, type_text(*one)));
    }
  }
  out.set("weights", std::move(list)).set("layer", layer ? Json(*layer) : Json());
}

Json grid_json(const Step& step, const Profile& profile) {
  const Grid& grid = step.launch.grid;
  const StepSize size = {.rows = profile.tokens, .slots = std::max(profile.sequences, 1u)};
  return Json::Array{grid.x.at(size), grid.y.at(size), grid.z.at(size)};
}

/// The steps, and the text of each kernel once.
void add_steps(Json& out, const Plan& plan, const Profile& profile) {
  const Phase& phase = plan.phases[profile.phase_index];
  Json::Array steps, sources;
  std::map<std::string, int64_t> known;
  for (size_t i = 0; i < phase.steps.size(); ++i) {
    const Step& step = phase.steps[i];
    int64_t source = -1;
    if (step.kernel->launch != nullptr) {
      std::string text = shader_text(step.kernel->needs, step.launch, step.inputs.size(),
                                     step.outputs.size(), batch_access(plan, phase, step));
      const auto [entry, is_new] = known.try_emplace(std::move(text), int64_t(sources.size()));
      source = entry->second;
      if (is_new) {
        Json one;
        sources.push_back(one.set("kernel", step.kernel->name).set("text", entry->first));
      }
    }
    const Cost cost = launch_cost(plan, step, profile);
    Json::Array passed_over(step.passed_over.begin(), step.passed_over.end());
    Json one;
    one.set("op", op_name(step.op)).set("kernel", step.kernel->name);
    one.set("problem", step_problem(step)).set("makes", type_text(step.outputs.front()));
    one.set("reads", read_by(plan, step)).set("us", profile.steps[i] * 1e6);
    add_weights(one, plan, step);
    one.set("bytes", cost.bytes).set("flops", cost.flops);
    one.set("grid", grid_json(step, profile)).set("source", source);
    one.set("inputs", buffer_ids(step.inputs)).set("outputs", buffer_ids(step.outputs));
    steps.push_back(one.set("passed_over", std::move(passed_over)));
  }
  out.set("steps", std::move(steps)).set("sources", std::move(sources));
}

std::string node_text(const Graph& graph, const Node& node) {
  std::string text = std::string(op_name(node.op)) + attributes_text(node.op);
  for (const ValueId id : node.inputs) {
    const TensorDesc& in = graph.at(id);
    if (in.storage == Storage::kConstant) text += " " + in.name;
  }
  return text + " -> " + type_text(graph.at(node.outputs[0]));
}

/// The nodes of a graph by the names of what they make.
std::map<std::string, size_t> makers(const Graph& graph) {
  std::map<std::string, size_t> out;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs) out[graph.at(id).name] = n;
  }
  return out;
}

Json passes_json(const std::vector<uint32_t>& replacements) {
  Json::Array list;
  for (size_t i = 0; i < replacements.size(); ++i) {
    Json one;
    list.push_back(one.set("name", fuse::passes()[i].name).set("count", replacements[i]));
  }
  return list;
}

/// "passes": how often each replaced something. "fusion": each fused node with the nodes in whose
/// place it stands: those that make its results, and those before them whose results nothing else
/// of the fused graph makes. A node that only makes what others finish, as the product before
/// attention does, has none.
void add_fusion(Json& out, Graph before, const GraphKey& key, const Engine::Compiled& compiled) {
  for (const Node& node : before.nodes) {
    for (const ValueId id : node.outputs) before.at(id).name = fmt::format("#{}", uint32_t(id));
  }
  Graph after = before;
  const auto replaced = fuse::run_pipeline(after, key.steps, compiled.disabled_passes,
                                           compiled.main.graphs[key.graph].target);
  TOK_CHECK(replaced.has_value());  // it ran when the model was compiled
  out.set("passes", passes_json(*replaced));
  const std::map<std::string, size_t> made_before = makers(before), made_after = makers(after);
  Json::Array rows;
  std::set<size_t> placed;
  for (const Node& node : after.nodes) {
    std::vector<size_t> open;
    std::set<size_t> own;
    for (const ValueId id : node.outputs) {
      const auto maker = made_before.find(after.at(id).name);
      if (maker != made_before.end()) open.push_back(maker->second);
    }
    while (!open.empty()) {
      const size_t n = open.back();
      open.pop_back();
      if (placed.contains(n) || !own.insert(n).second) continue;
      for (const ValueId id : before.nodes[n].inputs) {
        const auto maker = made_before.find(before.at(id).name);
        const bool is_kept = made_after.contains(before.at(id).name);
        if (maker != made_before.end() && !is_kept) open.push_back(maker->second);
      }
    }
    placed.insert(own.begin(), own.end());
    Json::Array unfused;
    for (const size_t n : own) unfused.emplace_back(node_text(before, before.nodes[n]));
    Json row;
    rows.push_back(row.set("fused", node_text(after, node)).set("unfused", std::move(unfused)));
  }
  out.set("fusion", std::move(rows));
}

/// The origin of the measurements, by whom and when, in the page's own order.
Json origin_json(const Engine& engine, const PageOrigin& origin) {
  const Engine::Compiled& compiled = engine.compiled();
  Json::Array rows;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back(Json::Array{name, value});
  };
  add("date", origin.date);
  add("version", fmt::format("{}{}{}", origin.version, origin.version.empty() ? "" : ", ",
                             "commit " TOKAMAK_COMMIT));
  add("command", origin.command);
  add("model", fmt::format("{} ({})", engine.files().name, compiled.facts.architecture));
  add("device", fmt::format("{}, {}", engine.device().name, engine.device().driver));
  add("context",
      fmt::format("{} tokens, in chunks of {}", compiled.context, compiled.main.plan.chunk()));
  for (const Buffer& buffer : compiled.main.plan.buffers) {
    if (buffer.use != BufferUse::kState || !buffer.tensor.name.starts_with("kv.")) continue;
    add("KV cache", std::string(cache_type_name(buffer.tensor.dtype)));
    break;
  }
  return rows;
}

void put(std::string& page, std::string_view place, std::string_view text) {
  const size_t at = page.find(place);
  TOK_CHECK(at != std::string::npos);
  page.replace(at, place.size(), text);
}

}  // namespace

std::optional<uint32_t> layer_of(std::string_view name) {
  while (!name.empty()) {
    const size_t end = std::min(name.find('.'), name.size());
    uint32_t layer = 0;
    const auto read = std::from_chars(name.data(), name.data() + end, layer);
    if (end > 0 && read.ec == std::errc() && read.ptr == name.data() + end) return layer;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return std::nullopt;
}

Result<Json> page_data(const Engine& engine, const Profile& profile, const Roofline& roofline,
                       const PageOrigin& origin) {
  const Engine::Compiled& compiled = engine.compiled();
  const DeviceInfo& device = engine.device();
  const uint32_t tokens = compiled.main.plan.phases[profile.phase_index].max_tokens;
  const Graph before = compiled.main.unfused(profile.phase_index);
  TOK_TRY(const Plan unfused,
          capture(before, device, {.phases = {{profile.phase, tokens}}, .forced = {}}));
  Json out;
  const std::string& name = engine.files().name;  // the folder, perhaps with a slash after it
  const std::string folder = name.substr(0, name.find_last_not_of('/') + 1);
  out.set("model", folder.substr(folder.rfind('/') + 1))
      .set("architecture", compiled.facts.architecture);
  out.set("device", device.name).set("driver", device.driver);
  out.set("phase", profile.phase).set("tokens", profile.tokens).set("depth", profile.depth);
  out.set("bandwidth", roofline.bandwidth).set("peak_flops", roofline.flops);
  out.set("launch_seconds", roofline.launch_seconds);
  out.set("origin", origin_json(engine, origin));
  out.set("unfused_steps", uint64_t{unfused.phases[0].steps.size()});
  add_steps(out, compiled.main.plan, profile);
  out.set("kernels", *profile_json(profile).find("lines"));
  add_fusion(out, before, compiled.main.keys[profile.phase_index], compiled);
  return out.set("buffers", inspection::buffers_json(compiled.main.plan));
}

std::string profile_page(const Json& data) {
  // In a script element "</script" would end it; JSON may write its slash as "\/".
  std::string text = data.dump();
  for (size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at)) {
    text.replace(at, 2, "<\\/");
  }
  for (size_t at = text.find("<!"); at != std::string::npos; at = text.find("<!", at)) {
    text.replace(at, 2, "\\u003c!");
  }
  std::string page(find_text(page_files(), "page/profile.html"));
  put(page, "/*style*/", find_text(page_files(), "page/profile.css"));
  std::string script;
  for (const char* part : {"common", "timeline", "roofline", "profile"}) {
    script += find_text(page_files(), fmt::format("page/{}.js", part));
  }
  put(page, "/*script*/", script);
  put(page, "/*data*/", text);
  return page;
}

Json profile_trace(const Engine& engine, const Profile& profile) {
  const Plan& plan = engine.compiled().main.plan;
  const Phase& phase = plan.phases[profile.phase_index];
  Json::Array events;
  std::vector<std::vector<double>> lanes = profile.ranks;
  if (lanes.empty()) lanes.push_back(profile.steps);
  const auto named = [&](const char* kind, size_t lane, const std::string& name) {
    Json event, arguments;
    event.set("ph", "M").set("name", kind).set("pid", 1).set("tid", uint64_t{lane + 1});
    events.push_back(event.set("args", arguments.set("name", name)));
  };
  named("process_name", 0, engine.device().name);
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const std::string rank = lanes.size() > 1 ? fmt::format("rank {}: ", lane) : "";
    named("thread_name", lane,
          fmt::format("{}{} of {} after {}", rank, phase.name, profile.tokens, profile.depth));
  }
  std::vector<double> at(lanes.size());
  for (size_t i = 0; i < phase.steps.size(); ++i) {
    const Step& step = phase.steps[i];
    const Cost cost = launch_cost(plan, step, profile);
    Json arguments;
    arguments.set("step", uint64_t{i}).set("problem", step_problem(step));
    arguments.set("bytes", cost.bytes).set("flops", cost.flops);
    if (cost.link_bytes > 0) arguments.set("link_bytes", cost.link_bytes);
    arguments.set("grid", grid_json(step, profile));
    add_weights(arguments, plan, step);
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      const double us = lanes[lane][i] * 1e6;
      Json event;
      event.set("ph", "X").set("name", step.kernel->name).set("cat", op_name(step.op));
      event.set("pid", 1).set("tid", uint64_t{lane + 1}).set("ts", at[lane]).set("dur", us);
      events.push_back(event.set("args", arguments));
      at[lane] += us;
    }
    // Ranks that have met go on together.
    if (is_collective(step.op)) std::ranges::fill(at, *std::ranges::max_element(at));
  }
  Json out;
  out.set("displayTimeUnit", "ns");
  return out.set("traceEvents", std::move(events));
}

}  // namespace tokamak
