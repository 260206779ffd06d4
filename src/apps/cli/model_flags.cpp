#include <memory>
#include <set>

#include "apps/cli/command.h"
#include "apps/cli/line/number_of.h"
#include "engine/lora_files.h"
#include "report/inspect/kernel_trace.h"

namespace tokamak::cli {
namespace {

constexpr const char* kModelOptions = "Model options";
constexpr const char* kDeviceOptions = "Device options";
/// How notes about a software driver begin (engine/native.cpp).
constexpr std::string_view kNoGpu = "No GPU found";

constexpr std::string_view kAutoGpus = "auto";

/// The numbers of devices of --gpus; none for "auto". REQUIRES: each is a number or "auto".
Result<std::vector<uint32_t>> gpus_named(std::span<const std::string> words) {
  std::vector<uint32_t> numbers;
  for (const std::string& word : words) {
    if (word != kAutoGpus) {
      numbers.push_back(number_of<uint32_t>(word).value_or(0));
    } else if (words.size() > 1) {
      return fail(ErrorCode::kUsage, "--gpus is \"{}\", expected numbers of devices or auto alone.",
                  fmt::join(words, ","));
    }
  }
  return numbers;
}

/// Reads "op=variant" and "op=variant,op=variant"; gives nothing for others, and says why.
std::optional<ForcedVariants> parse_forced(const std::string& flag, std::string& mistake) {
  ForcedVariants forced;
  for (size_t at = 0; at <= flag.size();) {
    const size_t end = std::min(flag.find(',', at), flag.size());
    const std::string one = flag.substr(at, end - at);
    const size_t equals = one.find('=');
    if (equals == std::string::npos) {
      mistake = one == flag
                    ? not_expected(flag, "op=variant")
                    : fmt::format(" is \"{}\", of which \"{}\" is no op=variant", flag, one);
      return std::nullopt;
    }
    forced.emplace(one.substr(0, equals), one.substr(equals + 1));
    at = end + 1;
  }
  const Result<void> known = check_variants(forced);
  if (known) return forced;
  mistake = ": " + known.error().message;
  if (mistake.ends_with('.')) mistake.pop_back();
  return std::nullopt;
}

Validator fusion_pass() {
  std::vector<std::string> names;
  for (const fuse::Pass& pass : fuse::passes()) names.emplace_back(pass.name);
  return one_of(std::move(names));
}

Validator quantized_type() {
  return one_of({"q8", "q4"});
}

Validator known_backend() {
  return one_of({"auto", "cuda", "webgpu", "cpu", "cpu-reference"});
}

Validator cache_type() {
  return one_of({"auto", "f32", "f16", "q8"});
}

/// Kernels of a plan that differ in more than their sizes, about as many as are compiled.
size_t kernels_of(const Plan& plan) {
  std::set<std::string_view> names;
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) names.insert(step.kernel->name);
  }
  return names.size();
}

}  // namespace

Option* add_model(App& command, std::string& model, const std::string& meaning) {
  return command.add_option("MODEL,-m,--model", model, meaning)->check(not_empty("a MODEL"));
}

void ModelFlags::add_model_option(App& command, Model model) {
  std::string meaning =
      "model folder (Hugging Face layout), .gguf file, or org/name of a model on Hugging Face";
  if (model == Model::kOptional) meaning += "; the built-in model without";
  if (model == Model::kSeveral) meaning += " (repeatable); the built-in model without";
  Option* path = nullptr;
  if (model == Model::kRequired || model == Model::kOptional) {
    path = add_model(command, options_.model, meaning);
  } else {
    path = model == Model::kByName ? command.add_option("-m,--model", options_.model, meaning)
                                   : command.add_option("MODEL,-m,--model", models_, meaning);
    path->type_name("MODEL")->check(not_empty("a MODEL"));
  }
  Option* repo = command
                     .add_option("-hf,--hf-repo", repo_,
                                 "the same as --pull with org/name or org/name:QUANTIZATION")
                     ->type_name("NAME")
                     ->group(kModelOptions)
                     ->check(not_empty("org/name"))
                     ->excludes(path);
  if (model == Model::kRequired) command.require_one_of({path, repo});
}

void ModelFlags::add(App& command, Model model) {
  command_ = &command;
  if (model != Model::kNone) add_model_option(command, model);
  command.add_flag("--pull", pull_, "fetch MODEL without asking when it is not there yet")
      ->group(kModelOptions);
  command
      .add_option("--quantize", options_.quantize,
                  "q8 or q4: pack a model's floats into 8 or 4 bits, kept for the next start")
      ->type_name("TYPE")
      ->check(quantized_type())
      ->group(kModelOptions);
  add_device_options(command);
  add_developer_options(command);
}

void ModelFlags::add_adapters(App& command, bool several) {
  const auto check = [](const std::string& text) {
    return adapter_named(text) ? "" : not_expected(text, "[NAME=]FOLDER[=SCALE]");
  };
  Option* option =
      several
          ? command.add_option("--lora,--lora-modules", adapters_,
                               "a LoRA adapter beside the first MODEL, which requests name as "
                               "their model (repeatable): the folder as PEFT saves it; NAME, "
                               "else the folder's, is what it is called, SCALE a factor of what "
                               "it adds to the model")
          : command.add_option("--lora", adapter_,
                               "a LoRA adapter: the folder as PEFT saves it; SCALE is a factor "
                               "of what it adds to the model");
  option->type_name("[NAME=]FOLDER[=SCALE]")->check(check)->group(kModelOptions);
}

void ModelFlags::add_projector(App& command) {
  command
      .add_option("--mmproj,-mm", options_.projector,
                  "the file of a GGUF model's tower of images; default: mmproj-*.gguf beside it")
      ->type_name("FILE")
      ->check(not_empty("a FILE"))
      ->group(kModelOptions);
}

void ModelFlags::add_speculation(App& command) {
  command
      .add_option("--speculate", options_.speculate,
                  "guess several tokens and verify them in one step; the tokens are those without. "
                  "auto: where that is faster, by the draft model or from what the text has said "
                  "before; lookup, lookup:N: always from that, at most N tokens; draft, draft:N: "
                  "always by the draft model; default: auto with --draft, else off")
      ->type_name("HOW")
      ->check([](const std::string& text) {
        const bool is_known =
            !text.empty() && speculation_from_text(text, text.starts_with("draft"));
        return is_known ? "" : not_expected(text, "off, auto, lookup[:1 to 63] or draft[:1 to 63]");
      })
      ->group(kModelOptions);
  command
      .add_option("--draft,--model-draft", options_.draft,
                  "a smaller model with the same tokenizer that guesses what follows, named as "
                  "MODEL is")
      ->type_name("MODEL")
      ->check(not_empty("a MODEL"))
      ->group(kModelOptions);
}

void ModelFlags::add_second(App& command) {
  const auto add = [&](const char* name, std::string& variable, const char* meaning) {
    return command.add_option(name, variable, meaning)->group(kModelOptions);
  };
  add("--quantize-b", second_quantize_, "--quantize of B; default: that of A")
      ->type_name("TYPE")
      ->check(quantized_type());
  add("--kv-b", second_kv_, "--kv of B; default: that of A")
      ->type_name("TYPE")
      ->check(cache_type());
  add("--backend-b", second_backend_, "--backend of B; default: that of A")
      ->type_name("NAME")
      ->check(known_backend());
}

void ModelFlags::add_device_options(App& command) {
  command
      .add_option(
          "--backend", options_.backend,
          "cuda, webgpu, cpu, or cpu-reference, which is slow; auto: CUDA on an NVIDIA GPU, else "
          "WebGPU on the best GPU there is, else the CPU")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(known_backend())
      ->group(kDeviceOptions);
  command.add_option("--device", device_, "device of the backend, numbered as by `tokamak doctor`")
      ->check(in_range(0, 65535))
      ->group(kDeviceOptions);
  Option* const gpus =
      command
          .add_option(
              "--gpus", gpus_,
              "run the model on these CUDA devices together, each with a part of its weights, as "
              "0,1: for models too large for one, and to answer sooner; with --backend webgpu on "
              "those of WebGPU; auto, as without it: on as many of CUDA as its weights need")
          ->type_name("N,N...")
          ->delimiter(',')
          ->check([](const std::string& text) -> std::string {
            const bool is_number = in_range(0, 65535)(text).text.empty();
            if (is_number || text == kAutoGpus) return "";
            return not_expected(text, "a whole number from 0 to 65535 or auto");
          })
          ->group(kDeviceOptions);
  command
      .add_option("--split", options_.split,
                  "what each of --gpus has: ranks, a part of every layer, where the devices are "
                  "alike and read each other's memory; layers, some of them, as many as its free "
                  "memory has room for; auto: ranks where they can be, else layers")
      ->type_name("WAY")
      ->capture_default_str()
      ->check(one_of({"auto", "ranks", "layers"}))
      ->needs(gpus)
      ->group(kDeviceOptions);
  command
      .add_option("--threads", options_.threads,
                  "threads of --backend cpu; default: one for each core it may use")
      ->check(in_range(1, 1024))
      ->group(kDeviceOptions);
  command
      .add_option(
          "-c,--context,--ctx-size", options_.context,
          "positions for prompt and answer together; default: the model's, at most 32768, or "
          "what half of the free memory has room for, at least 4096")
      ->check(in_range(1, 1 << 24))
      ->group(kDeviceOptions);
  command
      .add_option(
          "--kv", options_.kv,
          "element type of the KV cache: f32; f16 takes half of it, with answers as good; "
          "q8 (bytes) a little more than a quarter, with errors of a hundredth or two of the "
          "largest logit; "
          "auto: as the model's tokamak.json says, else f16 on a GPU and f32 on the CPU")
      ->type_name("TYPE")
      ->capture_default_str()
      ->check(cache_type())
      ->group(kDeviceOptions);
  command
      .add_option("--precision", options_.precision,
                  "auto; exact: only kernels that round nothing they multiply, and a KV cache of "
                  "f32 unless --kv is given, which is slower")
      ->type_name("WHICH")
      ->capture_default_str()
      ->check(one_of({"auto", "exact"}))
      ->group(kDeviceOptions);
  command
      .add_flag("--batch-invariant", options_.batch_invariant,
                "the same tokens of a seed whatever else runs, at half of the speed and less")
      ->group(kDeviceOptions);
  add_memory_option(command);
}

void ModelFlags::add_memory_option(App& command) {
  command
      .add_option("--max-memory", options_.memory,
                  "most that the model may take of the device's memory, a size as 6GiB or a share "
                  "of what is free as 70%: how much KV cache several sequences share; default: "
                  "90% where it is known what is free")
      ->type_name("SIZE")
      ->check(size_text(/*may_be_share=*/true))
      ->group(kDeviceOptions);
}

void ModelFlags::add_developer_options(App& command) {
  const auto flag = [&](const char* name, bool& variable, const char* meaning) {
    command.add_flag(name, variable, meaning)->group(kDeveloperOptions);
  };
  command
      .add_option("--chunk", options_.chunk,
                  "most tokens in a prefill step; default: 512, with matrix units up to 4096")
      ->check(in_range(1, 4096))
      ->group(kDeveloperOptions);
  command.add_option("--disable-pass", disabled_, "leave out a fusion pass (repeatable)")
      ->type_name("PASS")
      ->check(fusion_pass())
      ->group(kDeveloperOptions);
  command
      .add_option("--force", forced_,
                  "op=variant,...: only this kernel for an op; of several for one op the first "
                  "that takes a step (repeatable)")
      ->type_name("LIST")
      ->check([](const std::string& text) {
        std::string mistake;
        parse_forced(text, mistake);
        return mistake;
      })
      ->group(kDeveloperOptions);
  flag("--trace-kernels", trace_kernels_,
       "which kernel runs each step, and why not a better one, on standard error");
  flag("--no-f16", no_f16_, "only kernels that need no f16");
  flag("--no-subgroups", no_subgroups_, "only kernels that need no subgroups");
  flag("--no-matrix", no_matrix_,
       "products of several tokens in f32, not of f16 or bf16 factors by matrix units");
  flag("--no-self-test", no_self_test_, "trust kernels that have not been tested on this device");
  flag("--no-tuned", no_tuned_, "leave out what `tokamak tune` has found");
  flag("--default-limits", default_limits_, "stay within the limits every WebGPU device grants");
}

Result<OpenOptions> ModelFlags::options_of_any_model() const {
  OpenOptions options = options_;
  options.model = model();
  if (device_ >= 0) options.device = uint32_t(device_);
  TOK_TRY(options.gpus, gpus_named(gpus_));
  if (!gpus_.empty() && options.gpus.empty() && options.device) {
    return fail(ErrorCode::kUsage,
                "--device chooses one GPU and --gpus auto as many as the model needs; expected one "
                "of the two.");
  }
  options.use_f16 = !no_f16_;
  options.use_subgroups = !no_subgroups_;
  options.use_matrix = !no_matrix_;
  options.self_test = !no_self_test_;
  options.use_tuned = !no_tuned_;
  options.default_limits = default_limits_;
  options.disabled_passes.insert(disabled_.begin(), disabled_.end());
  std::vector<std::string> adapters = adapters_;
  if (!adapter_.empty()) adapters.push_back(adapter_);
  for (const std::string& text : adapters) {
    TOK_TRY(AdapterOption one, adapter_named(text));
    options.adapters.push_back(std::move(one));
  }
  for (const std::string& flag : forced_) {
    std::string mistake;
    if (auto forced = parse_forced(flag, mistake)) options.forced.merge(*forced);
  }
  // That a device is slow is for people, who see it at once; all else is for scripts, too.
  const Option* json = command_->find("--json");
  const bool quiet = !stderr_is_terminal() || (json != nullptr && json->count() > 0);
  // A command may open a device more than once.
  options.notice = [quiet,
                    said = std::make_shared<std::set<std::string>>()](std::string_view text) {
    if (quiet && text.starts_with(kNoGpu)) return;
    if (said->emplace(text).second) note(fmt::format("note: {}\n", text));
  };
  if (trace_kernels_) options.planned = [](const Plan& plan) { note(kernel_trace(plan)); };
  if (options.backend.starts_with("cpu") && options.device) {
    return fail(ErrorCode::kUsage,
                "--device chooses a WebGPU or CUDA device and does not go with {}.",
                options.backend);
  }
  return options;
}

Result<OpenOptions> ModelFlags::options_of(const std::string& model) const {
  TOK_TRY(OpenOptions options, options_of_any_model());
  options.model = model;
  TOK_TRY(find_or_fetch(options.model, pull_ || !repo_.empty()));
  if (!options.draft.empty()) TOK_TRY(find_or_fetch(options.draft, pull_));
  return options;
}

Result<OpenOptions> ModelFlags::options_of_second(const std::string& model) const {
  TOK_TRY(OpenOptions options, options_of(model));
  if (!second_quantize_.empty()) options.quantize = second_quantize_;
  if (!second_kv_.empty()) options.kv = second_kv_;
  if (second_backend_.empty()) return options;
  options.backend = second_backend_;
  options.device.reset();  // its number is one of the other backend's
  return options;
}

Result<std::unique_ptr<Engine>> ModelFlags::open(bool all_logits) const {
  TOK_TRY(OpenOptions options, this->options());
  options.task = Task::kText;
  options.all_logits = all_logits;
  return open(std::move(options));
}

Result<std::unique_ptr<Engine>> ModelFlags::open_encoder(const std::string& pooling) const {
  TOK_TRY(OpenOptions options, this->options());
  options.task = Task::kEmbeddings;
  options.pooling = pooling;
  return open(std::move(options));
}

Result<std::unique_ptr<Engine>> ModelFlags::open(OpenOptions options) {
  const WhenInterrupted end(OnInterrupt::kEnd);
  Waiting waiting(kLoading);
  show_loading(options, waiting);
  TOK_TRY(auto engine, Engine::open(options));
  const std::vector<LoraFiles>& adapters = engine->files().adapters;
  if (!adapters.empty()) TOK_TRY(engine->use_adapter(adapters.front().name));
  return engine;
}

void show_loading(OpenOptions& options, Waiting& waiting) {
  const auto kernels = std::make_shared<size_t>();
  options.planned = [&waiting, kernels, trace = options.planned](const Plan& plan) {
    *kernels = kernels_of(plan);
    waiting.say("loading the weights");
    if (trace) trace(plan);
  };
  options.progress = [&waiting, kernels](uint64_t done, uint64_t total) {
    if (done < total) {
      waiting.say(
          fmt::format("loading {:.0f} of {:.0f} MB", double(done) / 1e6, double(total) / 1e6));
    } else {
      waiting.say(fmt::format("compiling {} kernels (first run on this device)", *kernels));
    }
    return true;
  };
}

bool compiles_while_running(const Engine& engine) {
  const CompileReport report = engine.compile_report();
  return engine.device().software && report.cached < report.pipelines;
}

}  // namespace tokamak::cli
