// From a checkpoint to a plan: the graphs of all phases, fused, and the kernels for them.
#include <algorithm>

#include "base/background_task.h"
#include "engine/draft.h"
#include "engine/engine.h"
#include "engine/image_encoder.h"
#include "engine/memory.h"
#include "engine/task.h"
#include "fuse/long_context.h"
#include "graph/kv_cache.h"
#include "kernels/linear/small_batch.h"

namespace tokamak {
namespace {

Result<DType> kv_dtype(const std::string& choice, const DeviceInfo& device) {
  if (choice == "auto") return device.backend == BackendKind::kCpu ? DType::kF32 : DType::kF16;
  if (const auto dtype = cache_type_from_name(choice)) return *dtype;
  return fail(ErrorCode::kUsage, "kv is \"{}\", expected auto, f32, f16 or q8.", choice);
}

/// What `quantize` makes of matrices of floats.
Result<std::optional<DType>> quantized_type(const std::string& choice) {
  if (choice.empty()) return std::nullopt;
  if (choice == "q8") return DType::kQ8_0;
  if (choice == "q4") return DType::kQ4_0;
  return fail(ErrorCode::kUsage, "quantize is \"{}\", expected q8 or q4.", choice);
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
    return unsupported("The model is a {}, which reads text only here; images are for {}.",
                       architecture.name, known);
  }
  // For matrix units, which multiply f16. There are few keys, and they are gone after the image.
  const bool has_matrix = (device.features & kFeatureSubgroupMatrix) != 0;
  const DType kv_dtype = has_matrix && build.kv_dtype != DType::kF32 ? DType::kF16 : DType::kF32;
  TOK_TRY(VisionTower tower, architecture.vision(files.description.reader(), files.tensors,
                                                 {options.image_pixels, kv_dtype}));
  if (tower.sees_whole_images && build.chunk < tower.max_rows()) {
    return fail(ErrorCode::kUsage, "chunk is {}, but images of this model take {} tokens at once.",
                build.chunk, tower.max_rows());
  }
  return tower;
}

/// With phases for long contexts only where these have a kernel of their own.
Result<Plan> capture_worthwhile(const Graph& graph, const DeviceInfo& device,
                                CaptureOptions options) {
  TOK_TRY(Plan plan, capture(graph, device, options));
  bool has_long_context = false;
  for (size_t i = 1; i < plan.phases.size(); ++i) {
    if (plan.phases[i].from_position == 0) continue;
    has_long_context = true;
    if (!std::ranges::equal(plan.phases[i].steps, plan.phases[i - 1].steps, {}, &Step::kernel,
                            &Step::kernel)) {
      return plan;
    }
  }
  if (!has_long_context) return plan;
  std::erase_if(options.phases, [](const PhaseRequest& one) { return one.from_position > 0; });
  return capture(graph, device, options);
}

/// Whether it has a state that cannot take back what it has taken in, as of a wrong draft.
bool is_recurrent(const Graph& graph) {
  return std::ranges::any_of(graph.values, [](const TensorDesc& value) {
    return value.storage == Storage::kState && value.shape.size() != 4;
  });
}

/// Makes the graphs of all phases from the unfused one, at the same time: each takes some 8 ms of a
/// model of 30 layers.
Result<void> fuse_graphs(Engine::Compiled& compiled, const fuse::DisabledPasses& disabled,
                         bool has_batches, bool verifies, bool batch_invariant) {
  compiled.fused = compiled.short_steps = compiled.unfused;
  compiled.one_token = fuse::for_one_token(compiled.unfused);
  compiled.sampled = fuse::with_list(compiled.one_token);
  compiled.greedy = fuse::with_argmax(compiled.one_token);
  Result<std::vector<uint32_t>> many, short_steps, one, sampled, greedy;
  const auto run = [&](Graph& graph, fuse::Steps steps, Result<std::vector<uint32_t>>& counts) {
    counts = fuse::run_pipeline(graph, steps, disabled, compiled.target);
  };
  const bool has_logits = compiled.gives_text();
  // Where workgroups take turns, short steps are as all others.
  const bool has_short = compiled.target.is_parallel && !batch_invariant;
  const fuse::Steps of_one = batch_invariant ? fuse::Steps::kMany : fuse::Steps::kOne;
  const fuse::Steps of_batch = batch_invariant ? fuse::Steps::kMany : fuse::Steps::kDecode;
  Result<std::vector<uint32_t>> batch_sampled, batch_greedy, verify;
  if (has_batches) {
    compiled.batch_sampled = compiled.sampled;
    compiled.batch_greedy = compiled.greedy;
  }
  if (verifies) compiled.verify = fuse::with_top_tokens(compiled.one_token);
  {
    BackgroundTask run_batch([&] {
      if (!has_batches) return;
      run(compiled.batch_sampled, of_batch, batch_sampled);
      run(compiled.batch_greedy, of_batch, batch_greedy);
    });
    BackgroundTask run_verify([&] {
      if (verifies)
        run(compiled.verify, has_short ? fuse::Steps::kShort : fuse::Steps::kMany, verify);
    });
    BackgroundTask run_many([&] { run(compiled.fused, fuse::Steps::kMany, many); });
    BackgroundTask run_short([&] {
      if (has_short) run(compiled.short_steps, fuse::Steps::kShort, short_steps);
    });
    BackgroundTask run_sampled([&] {
      if (has_logits) run(compiled.sampled, of_one, sampled);
    });
    BackgroundTask run_greedy([&] {
      if (has_logits) run(compiled.greedy, of_one, greedy);
    });
    run(compiled.one_token, of_one, one);
    for (auto* task : {&run_batch, &run_verify, &run_many, &run_short, &run_sampled, &run_greedy}) {
      TOK_TRY(task->wait());
    }
  }
  for (const auto* counts :
       {&many, &short_steps, &sampled, &greedy, &batch_sampled, &batch_greedy, &verify}) {
    TOK_TRY(*counts);
  }
  if (!has_short) compiled.short_steps = compiled.fused;
  TOK_TRY(compiled.replacements, std::move(one));
  return {};
}

Result<Engine::Compiled> compile_as_asked(const ModelFiles& files, const DeviceInfo& device,
                                          const OpenOptions& options) {
  const ModelDescription& description = files.description;
  const ConfigReader config = description.reader();
  TOK_TRY(config.status());
  TOK_TRY(const Architecture* architecture, find_architecture(config));
  Engine::Compiled out;
  out.disabled_passes = options.disabled_passes;
  out.target = fusion_target(device);
  if (options.batch_invariant) out.target.has_library = false;  // it chooses by the rows of a step
  TOK_TRY(out.facts, architecture->facts(config));
  TOK_TRY(out.encoder, find_encoder(description, options));
  TOK_TRY(check_task(out, options.task));
  TOK_TRY(BuildOptions build, build_options(out, files.tensors, device, options));
  TOK_TRY(out.hints, read_hints(description.hints, "tokamak.json"));
  const bool hinted = options.kv == "auto" && out.hints.kv;
  TOK_TRY(build.kv_dtype, kv_dtype(hinted ? *out.hints.kv : options.kv, device));
  out.context = build.context;
  if (!out.gives_text() && !out.is_for_sound()) out.target = for_rows(out.target, build.chunk);
  if (out.facts.fits_f16) out.target = fuse::in_f16(out.target);
  auto tower = vision_tower(*architecture, files, device, options, build);
  auto tower_plan = tower ? ImageEncoder::plan(*tower, out, device, options)
                          : Result<Plan>(Failure(tower.error()));
  if (tower_plan) {
    out.vision = *std::move(tower);
    out.tower = *std::move(tower_plan);
  } else if (options.image_pixels != 0 && options.needs_images) {
    return Failure(tower_plan.error());
  } else {
    out.text_only = tower_plan.error();
  }
  if (out.vision) build.image_rows = out.vision->max_rows();
  const std::optional<Json>& quantize_config = description.quantize_config;
  TOK_TRY(build.quantization,
          read_quantization(config, files.tensors, quantize_config ? &*quantize_config : nullptr));
  TOK_TRY(build.quantize, quantized_type(options.quantize));
  if (architecture->speech != nullptr) {
    TOK_TRY(out.speech, architecture->speech(config, files.tensors, build));
    for (const SoundStage& stage : out.speech->stages) {
      Graph& graph = out.stages.emplace_back(stage.graph);
      TOK_TRY(fuse::run_pipeline(graph, fuse::Steps::kMany, options.disabled_passes,
                                 fuse::in_f16(for_rows(out.target, stage.max_rows))));
    }
  }
  if (architecture->voice != nullptr) {
    TOK_TRY(out.voice, architecture->voice(config, files.tensors));
  }
  TOK_TRY(out.unfused, architecture->build(config, files.tensors, build));
  if (!files.adapters.empty()) {
    TOK_TRY(check_task(out, Task::kText));
    TOK_TRY(add_adapters(out.unfused, files.adapters, options.notice));
  }
  const bool has_batches = build.sequences > 1 && out.gives_text();
  TOK_TRY(out.speculation, speculation_from_text(options.speculate, files.draft != nullptr));
  const bool verifies = out.speculation.draft_tokens > 0 && out.gives_text() && !build.all_logits &&
                        build.chunk > 1 && !is_recurrent(out.unfused);
  if (out.speculation.asks_model && !verifies) {
    return unsupported("{} takes no drafts of another model: {}.", files.name,
                       is_recurrent(out.unfused)
                           ? "it has recurrent states, which cannot take back a wrong guess"
                           : "it does not generate text in steps of several tokens");
  }
  TOK_TRY(
      fuse_graphs(out, options.disabled_passes, has_batches, verifies, options.batch_invariant));
  if (out.vision) {
    build.own_angles = out.vision->angles.has_value();
    build.own_ends_in_windows = out.vision->only_in_windows;
    build.own_ends = out.vision->sees_whole_images && !out.vision->only_in_windows;
    TOK_TRY(out.images, architecture->build(config, files.tensors, build));
    if (!files.adapters.empty()) TOK_TRY(add_adapters(out.images, files.adapters));
    TOK_TRY(
        fuse::run_pipeline(out.images, fuse::Steps::kMany, options.disabled_passes, out.target));
  }
  // Whether kernels are chosen by how many rows a step has.
  const bool by_rows = !options.batch_invariant;
  CaptureOptions capturing{.phases = {}, .forced = options.forced, .advice = options.advice};
  capturing.advice.preferred.insert(out.hints.kernels.begin(), out.hints.kernels.end());
  if (build.chunk > 1) capturing.phases.push_back({"prefill", build.chunk});
  // Without matrix units longer steps have the same kernels.
  const bool has_matrix = (device.features & kFeatureSubgroupMatrix) != 0;
  if (has_matrix && build.chunk > kShortChunk && by_rows) {
    capturing.phases.push_back({"short", kShortChunk});
  }
  const auto add_short = [&](const char* phase, uint32_t tokens) {
    if (build.chunk <= tokens || !by_rows) return;
    capturing.phases.push_back({phase, tokens, PhaseKind::kPrefill, &out.short_steps});
  };
  // On a processor's cores they have the kernels of longer steps.
  if (out.target.is_parallel) add_short("short_64", fuse::kShortStep);
  add_short("small_batch", kSmallBatch);
  if (out.vision) {
    capturing.phases.push_back({"images", build.chunk, PhaseKind::kImages, &out.images});
  }
  for (size_t i = 0; i < out.stages.size(); ++i) {
    capturing.phases.push_back(
        {stage_input(i), out.speech->stages[i].max_rows, PhaseKind::kSound, &out.stages[i]});
  }
  capturing.phases.push_back({"decode", 1, PhaseKind::kDecode, &out.one_token});
  std::optional<Graph> long_context[3];
  if (out.gives_text()) {
    const auto add_long_context = [&](const char* phase, PhaseKind kind, const Graph& near,
                                      std::optional<Graph>& own) {
      if (out.context > kLongContext && by_rows) own = fuse::for_long_context(near, out.target);
      if (own) capturing.phases.push_back({phase, 1, kind, &*own, kLongContext});
    };
    add_long_context("decode_long", PhaseKind::kDecode, out.one_token, long_context[0]);
    capturing.phases.push_back({"sampled", 1, PhaseKind::kSampled, &out.sampled});
    add_long_context("sampled_long", PhaseKind::kSampled, out.sampled, long_context[1]);
    capturing.phases.push_back({"greedy", 1, PhaseKind::kGreedy, &out.greedy});
    add_long_context("greedy_long", PhaseKind::kGreedy, out.greedy, long_context[2]);
  }
  if (has_batches) {
    // Kernels differ for few rows, some and many.
    for (const uint32_t most : {kSmallBatch, 32u, kMaxSequences}) {
      const uint32_t rows = by_rows ? std::min(most, build.sequences) : build.sequences;
      capturing.phases.push_back(
          {fmt::format("sampled_{}", rows), rows, PhaseKind::kSampled, &out.batch_sampled});
      capturing.phases.push_back(
          {fmt::format("greedy_{}", rows), rows, PhaseKind::kGreedy, &out.batch_greedy});
      if (rows == build.sequences) break;
    }
  }
  if (verifies) {
    const uint32_t rows_of_all = (out.speculation.draft_tokens + 1) * build.sequences;
    const uint32_t most = std::min({build.chunk, rows_of_all, fuse::kShortStep});
    for (const uint32_t rows : {kSmallBatch, most}) {
      if (rows > most || (!by_rows && rows < most)) continue;
      capturing.phases.push_back(
          {fmt::format("verify_{}", rows), rows, PhaseKind::kVerify, &out.verify});
      if (rows == most) break;
    }
  }
  capturing.slots = build.sequences;
  if (!out.gives_text()) capturing.prompt_outputs = build.sequences;
  if (!by_rows) capturing.rows_for_kernels = std::clamp(build.chunk, 2u, fuse::kShortStep);
  TOK_TRY(out.plan, capture_worthwhile(out.fused, device, std::move(capturing)));
  return out;
}

}  // namespace

Graph Engine::unfused(const Compiled& compiled, const Phase& phase) {
  for (size_t i = 0; i < compiled.stages.size(); ++i) {
    if (phase.name == stage_input(i)) return compiled.speech->stages[i].graph;
  }
  if (!decodes(phase.kind) && phase.kind != PhaseKind::kVerify) return compiled.unfused;
  const Graph one = fuse::for_one_token(compiled.unfused);
  if (phase.kind == PhaseKind::kGreedy) return fuse::with_argmax(one);
  if (phase.kind == PhaseKind::kVerify) return fuse::with_top_tokens(one);
  return phase.kind == PhaseKind::kSampled ? fuse::with_list(one) : one;
}

namespace {

/// Without kernels that are known to be wrong, if there are others.
Result<Engine::Compiled> compile_rightly(const ModelFiles& files, const DeviceInfo& device,
                                         const OpenOptions& options) {
  auto compiled = compile_as_asked(files, device, options);
  if (compiled || options.advice.wrong.empty()) return compiled;
  OpenOptions trusting = options;
  trusting.advice.wrong.clear();
  if (!compile_as_asked(files, device, trusting)) return compiled;
  // It is for want of right kernels: what a pass replaces may have some.
  const auto without = [&](std::span<const fuse::Pass> passes) {
    OpenOptions fewer = options;
    for (const fuse::Pass& pass : passes) fewer.disabled_passes.insert(std::string(pass.name));
    return compile_as_asked(files, device, fewer);
  };
  const std::span<const fuse::Pass> all = fuse::passes();
  for (size_t i = 0; i < all.size(); ++i) {
    if (auto again = without(all.subspan(i, 1))) return again;
  }
  if (auto again = without(all)) return again;
  return compiled;
}

}  // namespace

Result<Engine::Compiled> Engine::compile(const ModelFiles& files, const DeviceInfo& device,
                                         const OpenOptions& options) {
  const auto compile_all = [&](const OpenOptions& own) -> Result<Compiled> {
    TOK_TRY(Compiled all, compile_rightly(files, device, own));
    if (files.draft) {
      TOK_TRY(all.draft, plan_draft(all, files, device, own));
    }
    return all;
  };
  TOK_TRY(Compiled compiled, compile_all(options));
  const auto positions = smaller_cache(compiled, device, options);
  if (positions && !*positions) return compiled;
  if (!positions && !reads_host_memory(device)) return Failure(positions.error());
  // Where not even one context fits, weights stay elsewhere.
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
  if (beside >= *limit || !leave_on_host(compiled.plan, *limit - beside)) {
    return Failure(positions.error());
  }
  return compiled;
}

}  // namespace tokamak
