// From a checkpoint to a plan: the graphs of all phases, fused, and the kernels for them.
#include <algorithm>

#include "engine/codec.h"
#include "engine/draft.h"
#include "engine/engine.h"
#include "engine/image_encoder.h"
#include "engine/memory.h"
#include "engine/phases.h"
#include "engine/quantized_type.h"
#include "engine/task.h"
#include "graph/kv_cache.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

Result<DType> kv_dtype(const std::string& choice, const DeviceInfo& device, bool is_exact) {
  const bool is_reference =
      device.backend == BackendKind::kCpu && (device.features & kFeatureVectors) == 0;
  if (choice == "auto") return is_reference || is_exact ? DType::kF32 : DType::kF16;
  if (const auto dtype = cache_type_from_name(choice)) return *dtype;
  return fail(ErrorCode::kUsage, "kv is \"{}\", expected auto, f32, f16 or q8.", choice);
}

/// The sentence on GGUF models that read no images; "" for others.
std::string tower_apart(const ModelFiles& files) {
  if (files.description.origin.empty()) return "";
  const std::string& note = files.tower_note;
  return fmt::format(
      " A GGUF model's tower is a file of its own: mmproj-*.gguf beside it, or named by "
      "--mmproj.{}{}",
      note.empty() ? "" : " ", note);
}

/// The tower of a model that is built in this way, for that device.
Result<VisionTower> vision_tower(const Architecture& architecture, const ModelFiles& files,
                                 const DeviceInfo& device, const OpenOptions& options,
                                 const BuildOptions& build) {
  if (options.image_pixels == 0) {
    return fail(ErrorCode::kUsage,
                "The model was opened for text only: image_pixels (--megapixels) lets it read "
                "images, where it can.");
  }
  if (architecture.vision == nullptr) {
    std::string known;
    for (const auto& other : architectures()) {
      if (other.vision != nullptr)
        known += fmt::format("{}{}", known.empty() ? "" : ", ", other.name);
    }
    return unsupported("The model is a {}, which reads text only here; images are for {}.{}",
                       architecture.name, known, tower_apart(files));
  }
  if (!files.description.origin.empty() && !files.description.reader().has("vision_config")) {
    return unsupported("The model is a {} without its tower of images.{}", architecture.name,
                       tower_apart(files));
  }
  // For matrix units, which multiply f16. There are few keys, and they are gone after the image.
  const bool has_matrix = (device.features & kFeatureSubgroupMatrix) != 0;
  const DType kv_dtype = has_matrix && build.kv_dtype != DType::kF32 ? DType::kF16 : DType::kF32;
  const std::optional<Json>& processor = files.description.image_processor;
  TOK_TRY(VisionTower tower, architecture.vision(files.description.reader(), files.tensors,
                                                 {.pixels = options.image_pixels,
                                                  .kv_dtype = kv_dtype,
                                                  .processor = processor ? &*processor : nullptr}));
  const bool grows = options.chunk == 0 && !build.all_logits;
  const uint32_t most = grows ? build.context : build.chunk;
  if (tower.sees_whole_images && most < tower.max_rows()) {
    return fail(ErrorCode::kUsage, "{} is {}, but images of this model take {} tokens at once.",
                grows ? "context" : "chunk", most, tower.max_rows());
  }
  return tower;
}

/// Whether it has a state that cannot take back what it has taken in, as of a wrong draft.
bool is_recurrent(const Graph& graph) {
  return std::ranges::any_of(graph.values, [](const TensorDesc& value) {
    return value.state && value.state->kind == StateKind::kRecurrent;
  });
}

/// Compiles the tower of a model that reads images, or keeps the reason why it reads none.
Result<void> add_tower(Engine::Compiled& out, Result<VisionTower> tower, const DeviceInfo& device,
                       const OpenOptions& options) {
  auto part = tower ? ImageEncoder::compile(*tower, out, device, options)
                    : Result<CompiledPart>(Failure(tower.error()));
  if (part) {
    out.vision = *std::move(tower);
    out.tower = *std::move(part);
  } else if (options.image_pixels != 0 && options.needs_images) {
    return Failure(part.error());
  } else {
    out.text_only = part.error();
  }
  return {};
}

/// Whether the device has kernels for a few rows of the graph's products: small_batch_dot4, and
/// products by experts that read an expert for each row.
bool has_few_rows(const Graph& graph, const DeviceInfo& device) {
  constexpr Features kNeeds = kFeatureSubgroups | kFeatureDot4;
  if ((device.features & kNeeds) != kNeeds || device.subgroup_min < 32) return false;
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    return node.inputs.size() > 1 &&
           (experts_of(node.op) != 0 || has_wide_units(graph.at(node.inputs[1])));
  });
}

/// How the text of steps with images differs from that of others.
BuildOptions with_images(BuildOptions build, const VisionTower& tower) {
  build.image_layers = uint32_t(tower.stages.size()) - 1;
  build.own_angles = tower.angles.has_value();
  build.own_ends_in_windows = tower.only_in_windows;
  build.own_ends = tower.sees_whole_images && !tower.only_in_windows;
  return build;
}

/// Whether drafts are verified. Errors: a draft model beside a model that verifies none.
Result<bool> find_speculation(Engine::Compiled& out, const ModelFiles& files, const Graph& text,
                              const BuildOptions& build, const OpenOptions& options) {
  TOK_TRY(out.speculation, speculation_from_text(options.speculate, files.draft != nullptr));
  const bool verifies = out.speculation.draft_tokens > 0 && out.gives_text() && !build.all_logits &&
                        build.chunk > 1 && !is_recurrent(text);
  if (!out.speculation.asks_model || verifies) return verifies;
  return unsupported("{} does not support a draft model: {}.", files.name,
                     is_recurrent(text)
                         ? "it has recurrent states, which cannot take back a wrong guess"
                         : "it does not generate text in steps of several tokens");
}

/// Reads the model's facts from the files and options, and the way that its graphs are to be built.
Result<BuildOptions> describe(Engine::Compiled& out, const Architecture& architecture,
                              const ModelFiles& files, const DeviceInfo& device,
                              const OpenOptions& options) {
  const ModelDescription& description = files.description;
  const ConfigReader config = description.reader();
  out.disabled_passes = options.disabled_passes;
  out.target = fusion_target(device);
  if (options.batch_invariant) out.target.has_library = false;  // it chooses by the rows of a step
  TOK_TRY(out.facts, architecture.facts(config));
  TOK_TRY(out.encoder, find_encoder(description, options));
  TOK_TRY(check_task(out, options.task));
  if (out.encoder) {
    TOK_TRY(out.lexical, read_lexical_head(files.tensors, out.facts.hidden));
  }
  TOK_TRY(BuildOptions build, build_options(out, files.tensors, device, options));
  TOK_TRY(out.hints, read_hints(description.hints, "tokamak.json"));
  const bool hinted = options.kv == "auto" && out.hints.kv && !options.is_exact();
  TOK_TRY(build.kv_dtype,
          kv_dtype(hinted ? *out.hints.kv : options.kv, device, options.is_exact()));
  out.context = build.context;
  if (!out.gives_text() && !out.is_for_sound()) out.target = for_rows(out.target, build.chunk);
  if (out.facts.fits_f16 && !options.is_exact()) out.target = fuse::in_f16(out.target);
  return build;
}

/// The options for the passes and kernels of the main part.
PartOptions part_options(const Engine::Compiled& out, const OpenOptions& options) {
  PartOptions own = {.target = out.target,
                     .disabled_passes = out.disabled_passes,
                     .forced = options.forced,
                     .advice = options.advice};
  own.advice.preferred.insert(out.hints.kernels.begin(), out.hints.kernels.end());
  return own;
}

Result<Engine::Compiled> compile_model(const ModelFiles& files, const DeviceInfo& device,
                                       const OpenOptions& options) {
  const ModelDescription& description = files.description;
  const ConfigReader config = description.reader();
  TOK_TRY(config.status());
  TOK_TRY(const Architecture* architecture, find_architecture(config));
  Engine::Compiled out;
  TOK_TRY(BuildOptions build, describe(out, *architecture, files, device, options));
  TOK_TRY(
      add_tower(out, vision_tower(*architecture, files, device, options, build), device, options));
  if (out.vision) {
    build.image_rows = out.vision->max_image_rows();
    if (out.vision->sees_whole_images) build.chunk = std::max(build.chunk, out.vision->max_rows());
  }
  const std::optional<Json>& quantize_config = description.quantize_config;
  TOK_TRY(build.quantization,
          read_quantization(config, files.tensors, quantize_config ? &*quantize_config : nullptr));
  TOK_TRY(build.quantize, quantized_type(options.quantize));
  if (architecture->speech != nullptr) {
    TOK_TRY(out.speech, architecture->speech(config, files.tensors, build));
  }
  if (architecture->voice != nullptr) {
    TOK_TRY(out.voice, architecture->voice(config, files.tensors));
  }
  PartRequest main = {.graphs = {}, .phases = {}, .slots = build.sequences, .ranks = device.ranks};
  const auto add_text = [&](const BuildOptions& own, const auto& notice) -> Result<void> {
    PartGraph& text = main.graphs.emplace_back(Graph(), out.target);
    TOK_TRY(text.graph, architecture->build(config, files.tensors, own));
    if (files.adapters.empty()) return {};
    TOK_TRY(check_task(out, Task::kText));
    return add_adapters(text.graph, files.adapters, notice);
  };
  TOK_TRY(add_text(build, options.notice));
  PhaseFacts facts = {.chunk = build.chunk,
                      .context = out.context,
                      .sequences = build.sequences,
                      .gives_text = out.gives_text(),
                      .is_parallel = out.target.is_parallel,
                      .has_matrix = (device.features & kFeatureSubgroupMatrix) != 0,
                      .by_rows = !options.batch_invariant,
                      .has_few_rows = has_few_rows(main.graphs.front().graph, device),
                      .sound_rows = {}};
  TOK_TRY(const bool verifies,
          find_speculation(out, files, main.graphs.front().graph, build, options));
  if (verifies) facts.draft_tokens = out.speculation.draft_tokens;
  if (out.vision) {
    facts.images = main.graphs.size();
    TOK_TRY(add_text(with_images(build, *out.vision), nullptr));
  }
  facts.sound = main.graphs.size();
  if (out.speech) {
    for (const SoundStage& stage : out.speech->stages) {
      main.graphs.push_back({stage.graph, fuse::in_f16(for_rows(out.target, stage.max_rows))});
      facts.sound_rows.push_back(stage.max_rows);
    }
  }
  main.phases = phases_of(facts);
  if (!out.gives_text()) main.prompt_outputs = build.sequences;
  if (!facts.by_rows) main.rows_for_kernels = std::clamp(build.chunk, 2u, fuse::kShortStep);
  TOK_TRY(out.main, compile_part(std::move(main), device, part_options(out, options)));
  return out;
}

/// Without kernels that are known to be wrong, if there are others.
Result<Engine::Compiled> compile_avoiding_faulty_kernels(const ModelFiles& files,
                                                         const DeviceInfo& device,
                                                         const OpenOptions& options) {
  auto compiled = compile_model(files, device, options);
  if (compiled || options.advice.wrong.empty()) return compiled;
  OpenOptions trusting = options;
  trusting.advice.wrong.clear();
  if (!compile_model(files, device, trusting)) return compiled;
  // It is for want of right kernels: what a pass replaces may have some.
  const auto without = [&](std::span<const fuse::Pass> passes) {
    OpenOptions fewer = options;
    for (const fuse::Pass& pass : passes) fewer.disabled_passes.insert(std::string(pass.name));
    return compile_model(files, device, fewer);
  };
  const std::span<const fuse::Pass> all = fuse::passes();
  for (size_t i = 0; i < all.size(); ++i) {
    if (auto result = without(all.subspan(i, 1))) return result;
  }
  if (auto result = without(all)) return result;
  return compiled;
}

}  // namespace

Result<std::optional<DType>> quantized_type(const std::string& choice) {
  if (choice.empty()) return std::nullopt;
  if (choice == "q8") return DType::kQ8_0;
  if (choice == "q4") return DType::kQ4_0;
  return fail(ErrorCode::kUsage, "quantize is \"{}\", expected q8 or q4.", choice);
}

Result<Engine::Compiled> Engine::compile(const ModelFiles& files, const DeviceInfo& device,
                                         const OpenOptions& options) {
  if (options.precision != "auto" && !options.is_exact()) {
    return fail(ErrorCode::kUsage, "precision is \"{}\", expected auto or exact.",
                options.precision);
  }
  const auto compile_all = [&](OpenOptions own) -> Result<Compiled> {
    own.advice.exact = own.is_exact();
    TOK_TRY(Compiled all, compile_avoiding_faulty_kernels(files, device, own));
    if (files.draft) {
      TOK_TRY(all.draft, plan_draft(all, files, device, own));
    }
    return all;
  };
  TOK_TRY(Compiled compiled, compile_all(options));
  TOK_TRY(const std::optional<OpenCache> longer, longer_context(compiled, device, options));
  if (longer) {
    OpenOptions roomy = options;
    roomy.context = longer->context;
    roomy.cache_tokens = longer->positions;
    return compile_all(roomy);
  }
  const auto positions = smaller_cache(compiled, device, options);
  if (positions && !*positions) return compiled;
  if (!positions && !reads_host_memory(device)) return Failure(positions.error());
  // A limit below even one context keeps weights elsewhere.
  OpenOptions smaller = options;
  if (positions) {
    smaller.cache_tokens = **positions;
  } else if (options.cache_tokens == 0) {
    smaller.cache_tokens = compiled.context;
  }
  if (smaller.cache_tokens != options.cache_tokens) {
    TOK_TRY(compiled, compile_all(smaller));
  }
  if (positions) return compiled;
  TOK_TRY(const std::optional<uint64_t> limit, memory_limit(options, device));
  const uint64_t beside = tower_bytes(compiled) + draft_bytes(compiled);
  if (beside >= *limit || !leave_on_host(compiled.main.plan, *limit - beside)) {
    return Failure(positions.error());
  }
  return compiled;
}

bool is_codec(const ModelFiles& files) {
  const auto architecture = find_architecture(files.description.reader());
  return architecture && (*architecture)->codec != nullptr;
}

}  // namespace tokamak
