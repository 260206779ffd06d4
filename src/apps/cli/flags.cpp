#include <charconv>
#include <chrono>
#include <memory>
#include <set>

#include "apps/cli/command.h"
#include "engine/kernel_trace.h"

namespace tokamak::cli {
namespace {

/// Of "op=variant" and "op=variant,op=variant".
Result<ForcedVariants> parse_forced(const std::vector<std::string>& flags) {
  ForcedVariants forced;
  for (const std::string& flag : flags) {
    for (size_t at = 0; at <= flag.size();) {
      const size_t end = std::min(flag.find(',', at), flag.size());
      const std::string one = flag.substr(at, end - at);
      const size_t equals = one.find('=');
      if (equals == std::string::npos) {
        if (one == flag)
          return fail(ErrorCode::kUsage, "--force is \"{}\", expected op=variant.", one);
        return fail(ErrorCode::kUsage, "--force is \"{}\", of which \"{}\" is no op=variant.", flag,
                    one);
      }
      forced.emplace(one.substr(0, equals), one.substr(equals + 1));
      at = end + 1;
    }
  }
  const Result<void> known = check_variants(forced);
  if (!known) return Failure(known.error().within("--force"));
  return forced;
}

/// What is wrong with a seed. Conversion alone wraps or cuts a number that does not fit, and JSON
/// shows it as a signed one.
std::string seed_mistake(const std::string& text) {
  uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seed);
  if (read.ec == std::errc() && read.ptr == end && seed <= uint64_t{INT64_MAX}) return "";
  return fmt::format("found \"{}\", expected a whole number from 0 to {}", text, INT64_MAX);
}

}  // namespace

CLI::Validator not_empty(const std::string& meaning) {
  const auto mistake = [meaning](const std::string& text) {
    return text.empty() ? fmt::format("found \"\", expected {}", meaning) : "";
  };
  return CLI::Validator(mistake, "", "");
}

void ModelFlags::add(CLI::App& command, Model model) {
  CLI::Option* path = command.add_option(
      "MODEL", options_.model,
      model == Model::kRequired
          ? "model folder (Hugging Face layout), .gguf file, or org/name as `tokamak pull` fetched "
            "it"
          : "model folder (Hugging Face layout), .gguf file, or org/name as `tokamak pull` fetched "
            "it; the built-in model without");
  if (model == Model::kRequired) path->required();
  path->check(not_empty("a folder, a .gguf file or org/name"));
  command
      .add_option("--quantize", options_.quantize,
                  "q8 or q4: pack a model's floats into 8 or 4 bits, kept for the next start")
      ->check(not_empty("q8 or q4"));
  const char* group = "Device";
  command.add_option("--backend", options_.backend, "auto, webgpu or cpu (the slow reference)")
      ->capture_default_str()
      ->group(group);
  command.add_option("--device", device_, "WebGPU device, numbered as by `tokamak doctor`")
      ->check(CLI::Range(0, 65535))
      ->group(group);
  command
      .add_option("--context", options_.context, "positions; default: the model's, at most 4096")
      ->check(CLI::Range(1, 1 << 24))
      ->group(group);
  command
      .add_option("--chunk", options_.chunk,
                  "most tokens in a prefill step; default: 512, with matrix units up to 4096")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  command.add_option("--kv", options_.kv, "element type of the KV cache: auto, f16 or f32")
      ->capture_default_str()
      ->group(group);
  command.add_option("--disable-pass", disabled_, "leave out a fusion pass (repeatable)")
      ->allow_extra_args(false)  // one value each time; the next word may be MODEL
      ->group(group);
  command
      .add_option(
          "--force", forced_,
          "op=variant,...: only this kernel for an op; of several for one op the first that "
          "takes a step (repeatable)")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_flag("--trace-kernels", trace_kernels_,
                "which kernel runs each step, and why not a better one, on standard error")
      ->group(group);
  command.add_flag("--no-f16", no_f16_, "only kernels that need no f16")->group(group);
  command.add_flag("--no-subgroups", no_subgroups_, "only kernels that need no subgroups")
      ->group(group);
  command
      .add_flag("--no-matrix", no_matrix_,
                "products of several tokens in f32, not of f16 factors by matrix units")
      ->group(group);
  command
      .add_flag("--no-self-test", no_self_test_,
                "trust kernels that have not been tested on this device")
      ->group(group);
  command.add_flag("--no-tuned", no_tuned_, "leave out what `tokamak tune` has found")
      ->group(group);
  command
      .add_flag("--default-limits", options_.default_limits,
                "stay within the limits every WebGPU device grants")
      ->group(group);
}

Result<OpenOptions> ModelFlags::options() const {
  OpenOptions options = options_;
  if (device_ >= 0) options.device = uint32_t(device_);
  options.use_f16 = !no_f16_;
  options.use_subgroups = !no_subgroups_;
  options.use_matrix = !no_matrix_;
  options.self_test = !no_self_test_;
  options.use_tuned = !no_tuned_;
  options.disabled_passes.insert(disabled_.begin(), disabled_.end());
  TOK_TRY(options.forced, parse_forced(forced_));
  // A command may open a device more than once.
  options.notice = [said = std::make_shared<std::set<std::string>>()](std::string_view text) {
    if (said->emplace(text).second) note(fmt::format("note: {}\n", text));
  };
  if (trace_kernels_) options.planned = [](const Plan& plan) { note(kernel_trace(plan)); };
  if (options.backend == "cpu" && options.device) {
    return fail(ErrorCode::kUsage, "--device chooses a WebGPU device and does not go with cpu.");
  }
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

Result<std::unique_ptr<Engine>> ModelFlags::open(OpenOptions options) const {
  if (!stderr_is_terminal()) return Engine::open(options);
  const Clock clock = steady_clock();
  double shown = clock();
  const double start = shown;
  options.progress = [&](uint64_t done, uint64_t total) {
    if (clock() - start < 1.0 || clock() - shown < 0.1) return;
    shown = clock();
    note(fmt::format("\rloading {:.0f} of {:.0f} MB", double(done) / 1e6, double(total) / 1e6));
  };
  auto engine = Engine::open(options);
  if (shown > start) note("\r\033[K");
  return engine;
}

void SamplingFlags::add(CLI::App& command) {
  command_ = &command;
  command.add_option("-n,--max-tokens", max_tokens_, "most tokens to generate")
      ->capture_default_str();
  const char* group = "Sampling (default: as the model recommends)";
  command.add_flag("--greedy", greedy_, "always the most probable token")->group(group);
  command.add_option("--temp,--temperature", temperature_, "temperature; 0 is greedy")
      ->group(group);
  command.add_option("--top-k", top_k_, "only the k most probable; 0: all")->group(group);
  command.add_option("--top-p", top_p_, "only the most probable up to this sum")->group(group);
  command.add_option("--min-p", min_p_, "only those above this share of the best")->group(group);
  command.add_option("--typical-p", typical_p_, "locally typical sampling")->group(group);
  command.add_option("--repetition-penalty", repetition_penalty_, "above 1: less repetition")
      ->group(group);
  command.add_option("--seed", seed_, "same seed, same text; default: a new one each time")
      ->check(CLI::Validator(seed_mistake, "", ""))
      ->group(group);
  command.add_option("--stop", stop_, "end at this text, which is not shown (repeatable)")
      ->check(not_empty("a text"))
      ->allow_extra_args(false);
  command
      .add_option("--grammar", grammar_,
                  "generate only what this grammar in GBNF describes (docs/grammars.md); "
                  "@file reads a file")
      ->check(not_empty("a grammar, or @file"));
}

Result<GenerationParams> SamplingFlags::params(const GenerationParams& defaults) const {
  TOK_TRY(Sampler::make(defaults.sampling));  // not the fault of a flag
  GenerationParams params = defaults;
  SamplingParams& sampling = params.sampling;
  const auto given = [&](const char* name) { return command_->count(name) > 0; };
  params.max_tokens = max_tokens_;
  params.stop = stop_;
  if (given("--temp")) sampling.temperature = temperature_;
  if (given("--top-k")) sampling.top_k = top_k_;
  if (given("--top-p")) sampling.top_p = top_p_;
  if (given("--min-p")) sampling.min_p = min_p_;
  if (given("--typical-p")) sampling.typical_p = typical_p_;
  if (given("--repetition-penalty")) sampling.repetition_penalty = repetition_penalty_;
  if (greedy_) sampling.temperature = 0;
  sampling.seed = given("--seed")
                      ? seed_
                      : uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
  const auto sampler = Sampler::make(sampling);
  if (!sampler) return fail(ErrorCode::kUsage, "{}", sampler.error().message);
  if (!grammar_.empty()) {
    const bool is_file = grammar_.starts_with('@');
    std::string text = grammar_;
    if (is_file) {
      TOK_TRY(text, read_text_file(grammar_.substr(1), Grammar::kMaxTextBytes));
    }
    auto grammar = Grammar::parse(text);
    if (!grammar) {
      return Failure(grammar.error().within(is_file ? grammar_.substr(1) : "--grammar"));
    }
    params.grammar = std::make_shared<const Grammar>(*std::move(grammar));
  }
  return params;
}

}  // namespace tokamak::cli
