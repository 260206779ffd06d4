// Models: what the device is, whether a model fits it, and opening one.
#include "apps/web/fields.h"
#include "apps/web/host.h"
#include "apps/web/open_options.h"
#include "apps/web/verbs.h"
#include "engine/files/source_files.h"
#include "formats/piecewise_source.h"
#include "report/inspect/inspect.h"
#include "tune/kept_verdicts.h"

namespace tokamak::web {
namespace {

Json device_json(const DeviceInfo& device) {
  const DeviceLimits& own = device.limits;
  Json limits, out;
  limits.set("maxComputeInvocationsPerWorkgroup", own.workgroup_threads);
  limits.set("maxComputeWorkgroupStorageSize", own.workgroup_bytes);
  limits.set("maxStorageBuffersPerShaderStage", own.storage_buffers);
  limits.set("maxStorageBufferBindingSize", own.binding_bytes);
  limits.set("maxBufferSize", own.buffer_bytes);
  out.set("backend", backend_name(device.backend));
  out.set("name", device.name).set("driver", device.driver).set("software", device.software);
  out.set("features", feature_names(device.features)).set("limits", std::move(limits));
  out.set("tier", device.tier());
  return out;
}

Json memory_json(const Plan& plan) {
  const Footprint bytes = footprint(plan);
  Json out;
  out.set("weights", bytes.constants).set("cache", bytes.states);
  out.set("activations", bytes.activations).set("other", bytes.other).set("total", bytes.total());
  return out;
}

Json model_json(const ModelFiles& files, const Engine::Compiled& compiled) {
  Json out;
  out.set("name", files.name).set("architecture", compiled.facts.architecture);
  out.set("layers", compiled.facts.layers).set("hidden", compiled.facts.hidden);
  out.set("vocabulary", compiled.facts.vocab).set("context", compiled.context);
  out.set("maxContext", compiled.facts.max_context);
  out.set("quantization", quantization_name(files, compiled));
  out.set("embeds", compiled.encoder.has_value());
  out.set("sees", compiled.vision.has_value()).set("hears", compiled.speech.has_value());
  out.set("speaks", compiled.voice.has_value());
  out.set("hasTemplate", !files.chat_template.empty() ||
                             files.tokenizer_config.find("chat_template") != std::string::npos);
  out.set("memory", memory_json(compiled.main.plan));
  return out;
}

Json defaults_json(const GenerationParams& params) {
  const SamplingParams& sampling = params.sampling;
  Json out;
  out.set("maxTokens", params.max_tokens).set("temperature", sampling.temperature);
  out.set("topK", sampling.top_k).set("topP", sampling.top_p).set("minP", sampling.min_p);
  out.set("typicalP", sampling.typical_p);
  out.set("repetitionPenalty", sampling.repetition_penalty);
  return out;
}

/// In a note of the page.
KeptVerdicts kept_verdicts(const DeviceInfo& device) {
  const std::string name = verdicts_name(device);
  return {.read =
              [name] {
                const std::optional<std::string> note = read_note(name);
                return note ? Json::parse(*note).value_or(Json()) : Json();
              },
          .write = [name](const Json& verdicts) { write_note(name, verdicts.dump()); }};
}

}  // namespace

Result<ModelFiles> read_files(const Opening& opening) {
  SourceFiles sources;
  for (const HostFile& file : opening.files) {
    sources[file.name] = host_file(file.name, file.size, file.id);
  }
  return read_model_files(opening.name, sources);
}

/// {} -> what the model would run on
Result<Json> adapter(State&, const Json& options) {
  TOK_TRY(const Opening opening, read_opening(options));
  TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(opening.options));
  return device_json(backend->device());
}

/// Checks as open() does, but reads the headers of the weights alone -> {model, device}, or why it
/// does not run: on the browser's device, or on one that `device` describes (open_options.cpp). The
/// verbs of report_verbs.cpp show the model until another one is checked or opened.
Result<Json> check(State& state, const Json& options) {
  TOK_TRY(const Opening opening, read_opening(options));
  CheckedModel checked;
  TOK_TRY(checked.files, read_files(opening));
  if (opening.assumed) {
    checked.device = *opening.assumed;
  } else {
    TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(opening.options));
    checked.device = backend->device();
  }
  TOK_TRY(checked.compiled, Engine::compile(checked.files, checked.device, opening.options));
  Json out;
  out.set("model", model_json(checked.files, checked.compiled));
  out.set("device", device_json(checked.device));
  state.checked = std::move(checked);
  return out;
}

/// {name, files, ...}, see read_opening() -> {model, device, defaults, loadTimes, pipelines}
Result<Json> open(State& state, const Json& options) {
  TOK_TRY(Opening opening, read_opening(options));
  if (opening.assumed) return fail(ErrorCode::kUsage, "A model runs on no device that is assumed.");
  state.clear();
  OpenOptions& own = opening.options;
  own.notice = notice;
  own.reopen = [same = own] { return open_backend(same); };
  own.progress = [](uint64_t done, uint64_t total) {
    Json what;
    what.set("phase", "upload").set("done", done).set("total", total);
    tell("progress", what);
    return !cancelled();
  };
  if (opening.self_test) {
    own.find_wrong = [](Backend& backend, const Plan& plan) {
      return find_wrong_kernels(backend, plan, kept_verdicts(backend.device()));
    };
  }
  TOK_TRY(ModelFiles files, read_files(opening));
  TOK_TRY(std::unique_ptr<Backend> backend, open_backend(own));
  TOK_TRY(state.engine, Engine::load(std::move(files), std::move(backend), own, steady_clock()));
  const Engine& engine = *state.engine;
  state.options = own;
  // Codecs and measurements beside it take the same device, and give no notice of that again.
  if (own.backend == "auto") state.options.backend = backend_name(engine.device().backend);
  Json times, out;
  times.set("total", engine.load_times().total_seconds);
  times.set("compile", engine.load_times().compile_seconds);
  times.set("upload", engine.load_times().upload_seconds);
  times.set("test", engine.load_times().test_seconds);
  out.set("model", model_json(engine.files(), engine.compiled()));
  out.set("device", device_json(engine.device())).set("loadTimes", std::move(times));
  out.set("pipelines", engine.compile_report().pipelines);
  const auto defaults = engine.defaults();
  if (defaults) out.set("defaults", defaults_json(*defaults));
  return out;
}

/// {config, images} -> {whole}: whether it takes the whole module to open the model whose
/// config.json has that text, so that it reads images where it can. False where the text is wrong:
/// opening the model says why.
Result<Json> needs_whole(State&, const Json& options) {
  std::string text;
  bool images = true;
  TOK_TRY(Fields(options).take("config", text).take("images", images).done());
  Json out;
  out.set("whole", false);
  const auto config = Json::parse(text);
  if (!config || !config->is_object()) return out;
  const auto found = find_architecture({*config, "config.json"});
  if (!found) return out;
  const Architecture& own = **found;
  const bool is_for_sound = own.speech != nullptr || own.voice != nullptr || own.codec != nullptr;
  out.set("whole", is_for_sound || (images && own.vision != nullptr));
  return out;
}

/// {} -> {}
Result<Json> close(State& state, const Json& options) {
  TOK_TRY(Fields(options).done());
  state.clear();
  return Json(Json::Object{});
}

}  // namespace tokamak::web
