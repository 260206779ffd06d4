#include "report/inspect/inspect.h"

#include <algorithm>
#include <deque>

#include "engine/memory.h"
#include "formats/printable.h"
#include "graph/text.h"
#include "plan/text.h"
#include "report/inspect/inspect_views.h"
#include "report/inspect/model_title.h"

namespace tokamak::inspection {
namespace {

void add_embedding(Facts& facts, const Engine::Compiled& compiled) {
  if (!compiled.encoder) return;
  const Encoder& encoder = *compiled.encoder;
  constexpr const char* kPoolings[] = {"mean", "last", "cls"};
  const uint32_t dimensions = encoder.dimensions(compiled.facts.hidden);
  const char* pooling = kPoolings[uint32_t(encoder.head.pooling)];
  std::vector<std::string> names;
  Json::Array prompts;
  for (const auto& [name, text] : encoder.prompts) {
    names.push_back(name);
    prompts.emplace_back(name);
  }
  Json out;
  out.set("dimensions", dimensions).set("pooling", pooling).set("normalize", encoder.normalize);
  out.set("prompts", std::move(prompts));
  facts.add("embedding",
            fmt::format("{} numbers{}, pooled by {}, prompts: {}", dimensions,
                        encoder.normalize ? " of length 1" : "", pooling,
                        names.empty() ? "none" : joined(names)),
            "embedding", std::move(out));
}

/// "1.2 M in q4_0, 3 k in f32"; the type alone when there is one.
std::string types_text(const std::map<std::string, uint64_t>& types) {
  std::vector<std::string> names;
  for (const auto& [name, parameters] : types) {
    names.push_back(types.size() == 1 ? name
                                      : fmt::format("{} in {}", count_text(parameters), name));
  }
  return joined(names);
}

Json types_json(const std::map<std::string, uint64_t>& types) {
  Json out;
  for (const auto& [name, parameters] : types) out.set(name, parameters);
  return out;
}

/// "Q4_0, 4.50 bits per weight": what the file calls itself, else the type of most weights, and the
/// average over the matrices.
std::string quantization_text(const ModelFiles& files, const Engine::Compiled& compiled,
                              const WeightUses& uses) {
  const std::string name = quantization_name(files, compiled);
  const auto type = dtype_from_name(name);
  std::string text = type && is_float_weight(*type) ? fmt::format("none ({})", name) : name;
  if (uses.matrices.parameters == 0) return text;
  return text + fmt::format(", {:.2f} bits per weight",
                            8 * double(uses.matrices.bytes) / double(uses.matrices.parameters));
}

/// Matrices that --quantize leaves as they are.
uint64_t unquantized_matrices(const Graph& graph) {
  return uint64_t(std::ranges::count_if(graph.values, [](const TensorDesc& value) {
    return std::holds_alternative<Weight>(value.recipe) && value.shape.size() == 2 &&
           value.shape[1] % 32 != 0 && is_float_weight(value.dtype);
  }));
}

void add_parameters(Facts& facts, const ModelFiles& files, const Engine::Compiled& compiled,
                    const OpenOptions& options) {
  const WeightUses uses = weight_uses(files, values_of(compiled, compiled.main.fused()));
  std::string text =
      fmt::format("{} ({})", count_text(uses.used.parameters), types_text(uses.stored_types));
  for (const auto& [part, use] : uses.skipped_parts) {
    text += fmt::format("; {} of {} skipped", count_text(use.parameters), part);
  }
  facts.add("parameters", text, "parameters", uses.used.parameters);
  facts.add("", "", "skipped_parameters", uses.skipped.parameters);
  facts.add("", "", "element_types", types_json(uses.stored_types));
  facts.add("quantization", quantization_text(files, compiled, uses), "", nullptr);
  if (options.quantize.empty()) return;
  std::string device = types_text(uses.device_types);
  const uint64_t plain = unquantized_matrices(compiled.main.fused());
  if (plain != 0) {
    device += fmt::format("; {} matri{} whose rows are no multiple of 32 stay as they are", plain,
                          plain == 1 ? "x" : "ces");
  }
  facts.add("on the device", device, "device_types", types_json(uses.device_types));
}

/// "BPE with byte fallback"; for a GGUF file what it calls its vocabulary: "gpt2, llama-bpe".
Result<std::string> tokenizer_kind(const ModelFiles& files) {
  if (files.vocab) {
    const GgufVocab& vocab = *files.vocab;
    return vocab.pre.empty() ? vocab.model : fmt::format("{}, {}", vocab.model, vocab.pre);
  }
  TOK_TRY(const Json json, Json::parse(files.tokenizer));
  const Json* model = json.find("model");
  const Json* type = model == nullptr ? nullptr : model->find("type");
  const Json* fallback = model == nullptr ? nullptr : model->find("byte_fallback");
  std::string kind = type != nullptr && type->is_string() ? type->as_string() : "untyped";
  if (fallback != nullptr && *fallback == Json(true)) kind += " with byte fallback";
  return kind;
}

Result<void> add_texts(Facts& facts, const ModelFiles& files) {
  if (files.tokenizer.empty() && !files.vocab) {
    facts.add("tokenizer", files.description.origin.empty() ? "none (no tokenizer.json)" : "none",
              "tokenizer", nullptr);
  } else {
    TOK_TRY(const Tokenizer tokenizer, make_tokenizer(files));
    TOK_TRY(const std::string kind, tokenizer_kind(files));
    Json out;
    out.set("kind", kind).set("vocabulary", tokenizer.vocab_size());
    facts.add("tokenizer", fmt::format("{}, {} tokens", kind, count_text(tokenizer.vocab_size())),
              "tokenizer", std::move(out));
  }
  std::optional<std::string_view> jinja;
  if (!files.chat_template.empty()) jinja = files.chat_template;
  std::vector<ChatTemplateSource::Named> more;
  for (const auto& [name, source] : files.more_templates) more.push_back({name, source});
  std::vector<std::string> names;
  if (const auto source = read_chat_templates(files.tokenizer_files(), jinja, more)) {
    for (const ChatTemplateSource::Named& one : source->templates) names.push_back(one.name);
  }
  facts.add("chat template", names.empty() ? "no" : fmt::format("yes ({})", joined(names)),
            "chat_template", !names.empty());
  return {};
}

/// The names in a GGUF file.
void add_labels(Facts& facts, const ModelFiles& files) {
  const Json* name = files.tensors.metadata().find("general.name");
  if (name != nullptr && name->is_string()) {
    facts.add("name", printable(name->as_string()), "name", name->as_string());
  }
  if (const std::string_view label = quantization_label(files); !label.empty()) {
    facts.add("", "", "quantization", label);
  }
}

void add_files(Facts& facts, const ModelFiles& files) {
  std::vector<std::string> shown;
  Json::Array list;
  for (const std::shared_ptr<ByteSource>& source : files.tensors.sources()) {
    shown.push_back(fmt::format("{} ({})", file_part(source->name()), bytes_text(source->size())));
    Json one;
    list.push_back(one.set("file", file_part(source->name())).set("bytes", source->size()));
  }
  if (shown.size() > 4) {
    uint64_t bytes = 0;
    for (const std::shared_ptr<ByteSource>& source : files.tensors.sources()) {
      bytes += source->size();
    }
    shown = {fmt::format("{} files ({})", shown.size(), bytes_text(bytes))};
  }
  facts.add("weights", joined(shown), "files", std::move(list));
}

Result<void> add_launches(Facts& facts, const Engine::Compiled& compiled, const DeviceInfo& device,
                          const OpenOptions& options) {
  std::vector<std::string> counts;
  Json fusions;
  const CompiledPart& main = compiled.main;
  const std::vector<uint32_t>& replacements =
      main.fused(main.plan.phase_for(1, PhaseKind::kDecode)).replacements;
  for (size_t i = 0; i < replacements.size(); ++i) {
    const std::string_view name = fuse::passes()[i].name;
    if (replacements[i] > 0) {
      counts.push_back(fmt::format("{} {}", name, replacements[i]));
    }
    fusions.set(std::string(name), replacements[i]);
  }
  // Steps of several tokens fuse less, those that choose a token more.
  facts.add("fusions", counts.empty() ? "none" : "per decode step: " + joined(counts), "fusions",
            std::move(fusions));
  CaptureOptions unfused{.phases = {}, .forced = options.forced};
  std::deque<Graph> graphs;
  for (size_t i = 0; i < main.plan.phases.size(); ++i) {
    const Phase& phase = main.plan.phases[i];
    graphs.push_back(main.unfused(i));
    unfused.phases.push_back({phase.name, phase.max_tokens, phase.kind, &graphs.back()});
  }
  TOK_TRY(const Plan before, capture(main.unfused(), device, unfused));
  Json launches;
  std::vector<std::string> shown;
  for (size_t i = 0; i < before.phases.size(); ++i) {
    const size_t now = main.plan.phases[i].steps.size(), then = before.phases[i].steps.size();
    const std::string& name = before.phases[i].name;
    shown.push_back(fmt::format("{} per {} step ({} unfused)", now, name, then));
    Json one;
    launches.set(name, one.set("fused", uint64_t{now}).set("unfused", uint64_t{then}));
  }
  facts.add("launches", joined(shown), "launches", std::move(launches));
  return {};
}

/// The parts that several ranks share, and those that each computes whole.
void add_ranks(Facts& facts, const CompiledPart& part) {
  if (part.plan.ranks == 1) return;
  const ShardReport& cut = part.cut;
  const double share = double(cut.rank_bytes) / double(cut.bytes);
  Json out;
  out.set("ranks", part.plan.ranks).set("attentions", cut.attentions);
  out.set("feed_forwards", cut.feed_forwards).set("logits", cut.logits);
  out.set("whole", cut.whole).set("weight_share", share);
  facts.add("ranks",
            fmt::format("{}: {} of attention or recurrence, {} feed-forward{} are cut, {} products "
                        "whole; each has {:.1f} % of the weights",
                        part.plan.ranks, cut.attentions, cut.feed_forwards,
                        cut.logits ? " and the logits" : "", cut.whole, 100 * share),
            "ranks", std::move(out));
}

/// The layers of each device, and the bytes that they take.
void add_parts(Facts& facts, std::span<const DevicePart> parts) {
  if (parts.empty()) return;
  std::vector<std::string> shown;
  std::vector<Json> all;
  for (const auto& [layers, plan] : parts) {
    shown.push_back(fmt::format("{} ({})", layers_text(layers), bytes_text(layers.bytes)));
    Json one;
    one.set("first", uint64_t{layers.first + 1}).set("count", uint64_t{layers.count});
    one.set("bytes", layers.bytes);
    all.push_back(std::move(one));
  }
  facts.add("devices", joined(shown), "devices", Json(std::move(all)));
}

/// The outcome of one wish: "in 8 of 9 steps", or why in none.
std::string wish_text(const Engine::Compiled& compiled, const OpenOptions& options,
                      const DeviceInfo& device, const std::string& op, const std::string& name) {
  if (options.forced.contains(op)) return "--force comes first";
  uint64_t steps = 0, granted = 0;
  std::string reason;
  for (const Phase& phase : compiled.main.plan.phases) {
    for (const Step& step : phase.steps) {
      if (op_name(step.op) != op) continue;
      ++steps;
      granted += step.kernel->name == name ? 1 : 0;
      for (const std::string& line : step.passed_over) {
        if (reason.empty() && line.starts_with(name + ": ")) reason = line.substr(name.size() + 2);
      }
    }
  }
  if (steps == 0) return fmt::format("the plan has no {}", op);
  if (granted > 0) return fmt::format("in {} of {} steps", granted, steps);
  const KernelVariant* variant = find_variant(name);
  if (variant->backend != device.backend) {
    return fmt::format("is for {}", backend_name(variant->backend));
  }
  return reason;
}

void add_hints(Facts& facts, const Engine::Compiled& compiled, const DeviceInfo& device,
               const OpenOptions& options) {
  const ModelHints& hints = compiled.hints;
  if (!hints.present) return;
  std::vector<std::string> shown;
  Json kernels{Json::Array{}}, out;
  if (hints.kv) {
    shown.push_back(
        fmt::format("kv {}{}", *hints.kv,
                    options.kv == "auto" ? "" : " (--kv " + options.kv + " comes first)"));
  }
  for (const auto& [op, name] : hints.kernels) {
    const std::string outcome = wish_text(compiled, options, device, op, name);
    shown.push_back(fmt::format("{} ({})", name, outcome));
    Json one;
    kernels.as_array().push_back(one.set("op", op).set("kernel", name).set("outcome", outcome));
  }
  out.set("kv", hints.kv ? Json(*hints.kv) : Json()).set("kernels", std::move(kernels));
  facts.add("tokamak.json", shown.empty() ? "wishes for nothing" : joined(shown), "hints",
            std::move(out));
}

}  // namespace

/// `tower`: bytes beside the plan, for images.
void add_memory(Facts& facts, const Plan& plan, uint64_t tower = 0) {
  const Footprint sum = footprint(plan);
  const uint64_t total = sum.total() + tower;
  Json out;
  out.set("constants", sum.constants).set("kv_cache", sum.states);
  out.set("activations", sum.activations).set("other", sum.other);
  if (tower != 0) out.set("images", tower);
  out.set("total", total);
  facts.add("memory",
            fmt::format("{}: constants {}, KV cache and states {}, activations {}, other {}{}",
                        bytes_text(total), bytes_text(sum.constants), bytes_text(sum.states),
                        bytes_text(sum.activations), bytes_text(sum.other),
                        tower == 0 ? "" : ", images " + bytes_text(tower)),
            "memory", std::move(out));
}

std::string dot_start(std::string_view name) {
  return fmt::format(
      "digraph {} {{\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n",
      name);
}

std::string dot_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string file_part(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Result<Facts> summary(const ModelFiles& files, const Engine::Compiled& compiled,
                      const DeviceInfo& device, const OpenOptions& options,
                      std::span<const DevicePart> parts) {
  Facts facts;
  facts.add("model", model_title(files, options.model), "model", files.name);
  add_labels(facts, files);
  facts.add("architecture", "architecture", compiled.facts.architecture);
  add_parameters(facts, files, compiled, options);
  add_dimensions(facts, compiled);
  facts.add("vocabulary", count_text(compiled.facts.vocab), "vocabulary", compiled.facts.vocab);
  facts.add("context",
            fmt::format("{} positions; the model was made for {}", compiled.context,
                        compiled.facts.max_context),
            "context", compiled.context);
  facts.add("", "", "max_context", compiled.facts.max_context);
  add_embedding(facts, compiled);
  TOK_TRY(add_texts(facts, files));
  add_files(facts, files);
  facts.add("device", fmt::format("{}: {}", backend_name(device.backend), device.name), "device",
            device.name);
  facts.add("", "", "backend", backend_name(device.backend));
  add_hints(facts, compiled, device, options);
  TOK_TRY(add_launches(facts, compiled, device, options));
  add_ranks(facts, compiled.main);
  add_parts(facts, parts);
  add_memory(facts, compiled.main.plan, tower_bytes(compiled));
  return facts;
}

}  // namespace tokamak::inspection

namespace tokamak {
namespace {

Failure no_form(std::string_view form, std::string_view views) {
  return fail(ErrorCode::kUsage, "{} shows no such view; it goes with {}.", form, views);
}

}  // namespace

Result<std::string> inspect(const ModelFiles& files, const Engine::Compiled& compiled,
                            const DeviceInfo& device, const OpenOptions& options,
                            const InspectRequest& request) {
  namespace views = inspection;
  const bool is_graph = request.view == InspectView::kGraph || request.view == InspectView::kFused;
  const bool is_plan = request.view == InspectView::kPlan;
  const Graph& graph =
      request.view == InspectView::kGraph ? compiled.main.unfused() : compiled.main.fused();
  const Plan& plan = compiled.main.plan;
  switch (request.form) {
    case InspectForm::kText:
      if (is_graph) return to_text(graph);
      if (is_plan) return to_text(plan);
      return no_form("--text", "--graph, --fused or --plan");
    case InspectForm::kDot:
      if (is_graph) return views::graph_dot(graph);
      if (is_plan) return views::plan_dot(plan);
      return no_form("--dot", "--graph, --fused or --plan");
    case InspectForm::kTable:
    case InspectForm::kJson:
      break;
  }
  const bool json = request.form == InspectForm::kJson;
  const auto print = [](const Json& value) { return value.dump(1) + "\n"; };
  switch (request.view) {
    case InspectView::kSummary: {
      TOK_TRY(const Facts facts, views::summary(files, compiled, device, options, request.parts));
      return json ? print(facts.json()) : facts.text();
    }
    case InspectView::kGraph:
    case InspectView::kFused: {
      if (!json) return views::graph_table(graph, request);
      TOK_TRY(const Json value, views::graph_json(graph, request));
      return print(value);
    }
    case InspectView::kPlan:
      return json ? print(views::plan_json(plan, device, request))
                  : views::plan_table(plan, request);
    case InspectView::kWeights: {
      const auto values = views::values_of(compiled, graph);
      return json ? print(views::weights_json(files, values)) : views::weights_table(files, values);
    }
    case InspectView::kMemory: {
      if (!json) {
        std::string own;
        for (const auto& [layers, part] : request.parts) {
          own += fmt::format("{}Of {}:\n{}", own.empty() ? "" : "\n", layers_text(layers),
                             views::memory_table(part));
        }
        if (own.empty()) own = views::memory_table(plan);
        if (!compiled.tower) return own;
        return own + "\nBeside that, for images:\n" + views::memory_table(compiled.tower->plan);
      }
      Json out = views::memory_json(plan);
      std::vector<Json> parts;
      for (const DevicePart& part : request.parts) parts.push_back(views::memory_json(part.plan));
      if (!parts.empty()) out.set("devices", Json(std::move(parts)));
      if (compiled.tower) out.set("images", views::memory_json(compiled.tower->plan));
      return print(out);
    }
  }
  return std::string();
}

Result<std::string> inspect_codec(const ModelFiles& files, const Plan& plan,
                                  const DeviceInfo& device, const InspectRequest& request) {
  namespace views = inspection;
  const bool json = request.form == InspectForm::kJson;
  const bool is_known = request.view == InspectView::kSummary ||
                        request.view == InspectView::kPlan || request.view == InspectView::kMemory;
  if (!is_known || (request.form != InspectForm::kTable && !json)) {
    return fail(ErrorCode::kUsage,
                "{} is a codec; of those there are a summary, --plan and --memory, each as a table "
                "or with --json.",
                files.name);
  }
  const auto print = [](const Json& value) { return value.dump(1) + "\n"; };
  if (request.view == InspectView::kPlan) {
    return json ? print(views::plan_json(plan, device, request)) : views::plan_table(plan, request);
  }
  if (request.view == InspectView::kMemory) {
    return json ? print(views::memory_json(plan)) : views::memory_table(plan);
  }
  Facts facts;
  facts.add("codec", files.name, "codec", files.name);
  facts.add("device", fmt::format("{}: {}", backend_name(device.backend), device.name), "device",
            device.name);
  views::add_memory(facts, plan);
  return json ? print(facts.json()) : facts.text();
}

}  // namespace tokamak
