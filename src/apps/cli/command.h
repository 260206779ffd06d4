// What the commands share: how they register, how they read flags, how they talk to a terminal.
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace tokamak::cli {

/// What the chosen command does; errors become one line and an exit status.
using Action = std::function<Result<void>()>;

/// Each adds one subcommand to `app` and sets `action` when it is chosen.
void add_run(CLI::App& app, Action& action);
void add_chat(CLI::App& app, Action& action);
void add_embed(CLI::App& app, Action& action);
void add_logits(CLI::App& app, Action& action);
void add_tokenize(CLI::App& app, Action& action);
void add_template(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_sampler(CLI::App& app, Action& action);
void add_pull(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_rm(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);

/// MODEL and where it runs.
class ModelFlags {
 public:
  enum class Model : uint8_t { kRequired, kOptional };
  void add(CLI::App& command, Model model);
  /// With a progress line on a terminal. Errors: flags that make no sense together.
  Result<OpenOptions> options() const;
  Result<std::unique_ptr<Engine>> open(bool all_logits = false) const;
  /// The same for embeddings; `pooling` as in OpenOptions.
  Result<std::unique_ptr<Engine>> open_encoder(const std::string& pooling) const;

 private:
  Result<std::unique_ptr<Engine>> open(OpenOptions options) const;

  OpenOptions options_;
  int device_ = -1;
  std::vector<std::string> disabled_, forced_;
  bool no_f16_ = false, no_subgroups_ = false, trace_kernels_ = false, no_self_test_ = false;
  bool no_tuned_ = false, no_matrix_ = false;
};

/// Prompt text and how to sample; flags that are not given keep the model's own defaults.
class SamplingFlags {
 public:
  void add(CLI::App& command);
  /// Errors: a flag out of its range, a grammar that is none.
  Result<GenerationParams> params(const GenerationParams& defaults) const;

 private:
  CLI::App* command_ = nullptr;
  uint32_t max_tokens_ = 128;
  double temperature_ = 0, top_p_ = 1, min_p_ = 0, typical_p_ = 1, repetition_penalty_ = 1;
  uint32_t top_k_ = 0;
  uint64_t seed_ = 0;
  bool greedy_ = false;
  std::vector<std::string> stop_;
  std::string grammar_;
};

/// Refuses "", which would count as if the flag were not there; `meaning`: what is expected.
CLI::Validator not_empty(const std::string& meaning);

/// Set by Ctrl-C; a second Ctrl-C ends the program.
bool interrupted();
void catch_interrupts();
/// Forgets an earlier Ctrl-C.
void clear_interrupt();

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();

/// Writes to stdout at once. An error when nobody reads any more or the disk is full. A terminal
/// gets no control characters but line ends and tabs (terminal_text): the text may be a model's.
Result<void> print(std::string_view text);
/// The same to stderr. Only what a line of progress begins with, "\r" or "\r\033[K", stays.
void note(std::string_view text);
/// What the person at the terminal answers to "QUESTION? [y/N]"; anything but yes is no.
Result<bool> agreed(const std::string& question);

/// The whole of standard input.
Result<std::string> read_stdin();
/// Lines of a text, without their ends; no empty one after the last line end.
std::vector<std::string_view> lines_of(std::string_view text);

/// "1,2,3" or "@file" with a JSON array of token ids.
Result<std::vector<uint32_t>> parse_ids(const std::string& text);

Json to_json(std::span<const uint32_t> ids);
Json to_json(std::span<const float> values);

int exit_code(ErrorCode code);

}  // namespace tokamak::cli
