// The part that commands share: how they register, which options they have in common, how they find
// a model.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/line/input.h"
#include "apps/cli/line/options.h"
#include "apps/cli/line/terminal.h"
#include "engine/engine.h"
#include "hub/model_name.h"

namespace tokamak::cli {

/// The work of the chosen command; errors become one line and an exit status.
using Action = std::function<Result<void>()>;

/// Each adds one subcommand to `app` and sets `action` when it is chosen.
void add_run(App& app, Action& action);
void add_chat(App& app, Action& action);
void add_describe(App& app, Action& action);
void add_transcribe(App& app, Action& action);
void add_speak(App& app, Action& action);
void add_talk(App& app, Action& action);
void add_serve(App& app, Action& action);
void add_ps(App& app, Action& action);
void add_mcp(App& app, Action& action);
void add_embed(App& app, Action& action);
void add_rerank(App& app, Action& action);
void add_memory(App& app, Action& action);
void add_logits(App& app, Action& action);
void add_perplexity(App& app, Action& action);
void add_compare(App& app, Action& action);
void add_tokenize(App& app, Action& action);
void add_template(App& app, Action& action);
void add_inspect(App& app, Action& action);
void add_bench(App& app, Action& action);
void add_profile(App& app, Action& action);
void add_tune(App& app, Action& action);
void add_merge(App& app, Action& action);
void add_quantize(App& app, Action& action);
void add_imatrix(App& app, Action& action);
void add_doctor(App& app, Action& action);
void add_sampler(App& app, Action& action);
void add_pull(App& app, Action& action);
void add_list(App& app, Action& action);
void add_rm(App& app, Action& action);
void add_cache(App& app, Action& action);

/// The group of commands that are made for tests and scripts.
inline constexpr const char* kCheckingCommands = "Commands for checking and scripts";

/// Adds MODEL, which goes by -m and --model, too. `meaning`: what it may be.
Option* add_model(App& command, std::string& model, const std::string& meaning);

/// MODEL and where it runs.
class ModelFlags {
 public:
  /// kSeveral: any number of them; kByName: by -m alone, for commands whose words are something
  /// else. kNone: the command names its models itself.
  enum class Model : uint8_t { kRequired, kOptional, kSeveral, kByName, kNone };
  void add(App& command, Model model);
  /// --lora, for commands that generate: `several`, whose requests choose one.
  void add_adapters(App& command, bool several);
  /// --mmproj, for commands that read images.
  void add_projector(App& command);
  /// --speculate and --draft, for the same.
  void add_speculation(App& command);
  /// --backend-b, --kv-b and --quantize-b, for the second of two models.
  void add_second(App& command);
  /// With a progress line on a terminal. Fetches the model first when it is not there and --pull or
  /// the person at the terminal says so. Errors: flags that make no sense together, no such model.
  Result<OpenOptions> options() const { return options_of(model()); }
  /// Another model on the same device.
  Result<OpenOptions> options_of(const std::string& model) const;
  /// The same with the options for the second of two models.
  Result<OpenOptions> options_of_second(const std::string& model) const;
  /// The same without looking for the model.
  Result<OpenOptions> options_of_any_model() const;
  Result<std::unique_ptr<Engine>> open(bool all_logits = false) const;
  /// The same for embeddings; `pooling` as in OpenOptions.
  Result<std::unique_ptr<Engine>> open_encoder(const std::string& pooling) const;
  static Result<std::unique_ptr<Engine>> open(OpenOptions options);
  /// The model as it was named; "" for the built-in one.
  const std::string& model() const { return repo_.empty() ? options_.model : repo_; }
  /// The same of kSeveral; none where none was named.
  std::vector<std::string> models() const {
    return repo_.empty() ? models_ : std::vector<std::string>{repo_};
  }

 private:
  void add_model_option(App& command, Model model);
  void add_device_options(App& command);
  void add_memory_option(App& command);
  void add_developer_options(App& command);

  App* command_ = nullptr;
  OpenOptions options_;
  std::vector<std::string> models_, adapters_, gpus_;
  std::string repo_, adapter_, second_backend_, second_kv_, second_quantize_;
  int device_ = -1;
  std::vector<std::string> disabled_, forced_;
  bool no_f16_ = false, no_subgroups_ = false, trace_kernels_ = false, no_self_test_ = false;
  bool no_tuned_ = false, no_matrix_ = false, default_limits_ = false, pull_ = false;
};

/// The work of an engine until it plans, for a Waiting.
inline constexpr const char* kLoading = "testing kernels (first run on this device)";
/// Lets `waiting` say what comes after. It must live as long as a model is opened with `options`.
void show_loading(OpenOptions& options, Waiting& waiting);
/// Whether steps are kept up by their kernels when they first run: software drivers translate them
/// then, and what an earlier start compiled they have kept.
bool compiles_while_running(const Engine& engine);

/// Adds the option for a number of the sampling, under the same names for every command; it is read
/// into `params`.
Option* add_sampling_number(App& command, double SamplingParams::* number, SamplingParams& params);
/// Sets the numbers that were given in `sampling` to those of `params`.
void take_sampling_numbers(const App& command, const SamplingParams& params,
                           SamplingParams& sampling);

/// How to sample; options that are not given keep the model's own defaults.
class SamplingFlags {
 public:
  void add(App& command);
  /// Errors: defaults of the model that no sampler takes.
  Result<GenerationParams> params(const GenerationParams& defaults) const;
  bool is_limited() const { return command_->count("--max-tokens") > 0; }
  /// Standard input has been read, for the grammar: there is no prompt in it.
  bool has_read_stdin() const { return schema_path_ == "-" || grammar_text_ == "@-"; }

 private:
  void add_limits(App& command);
  void add_forms(App& command);
  void add_sampling(App& command);

  App* command_ = nullptr;
  int max_tokens_ = 128;
  SamplingParams numbers_;
  uint64_t seed_ = 0;
  bool greedy_ = false, ignore_eos_ = false;
  std::vector<std::string> stop_, biases_;
  std::string grammar_text_, schema_path_, regex_;
  std::shared_ptr<const Grammar> grammar_;
};

/// -n -1 as a number of tokens: more than any context has.
inline constexpr uint32_t kAllTokens = 1u << 30;

/// Brings a model into the cache, with progress on standard error and a note of what was fetched.
/// Gives what MODEL becomes.
Result<std::string> fetch_model(const hub::ModelName& name);

/// The path of `model` as find_model() gives it; one that is not there is fetched first when `pull`
/// or the person at the terminal says so.
Result<std::string> find_or_fetch(const std::string& model, bool pull);

/// "1,2,3" or "@file" with a JSON array of token ids.
Result<std::vector<uint32_t>> parse_ids(const std::string& text);

Json to_json(std::span<const uint32_t> ids);
/// Numbers as short as they can be and still be read back as the same float.
Json to_json(std::span<const float> values);
Json to_json(float value);

/// The head that the JSON of all that generate has: model, backend, device. `typed`: what MODEL
/// was.
void add_origin(Json& json, const Engine& engine, const std::string& typed);

int exit_code(ErrorCode code);

/// The command line that the program was started with, to be pasted into a shell.
const std::string& command_line();

/// Converts the value of --megapixels.
inline uint64_t pixels_of(double megapixels) {
  return uint64_t(megapixels * (1 << 20));
}

}  // namespace tokamak::cli
