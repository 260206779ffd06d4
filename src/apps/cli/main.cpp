// tokamak: the command line. kExamples has the exit statuses.
#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  tokamak run -p "Once upon a time"            the built-in storyteller
  tokamak run path/to/model -p "Hello" -n 64   a Hugging Face folder or a .gguf file
  tokamak chat                                 talk to it
  tokamak pull org/name                        fetch a model; then its name is enough
  tokamak doctor                               which devices work, and what to do about the others

`tokamak COMMAND --help` explains a command.

Exit status: 0 done, 2 wrong usage, 3 bad input or no answer from a hub, 4 well formed but not
supported, 5 the device or the memory, 70 a defect of the program, 130 interrupted.)";

/// What is wrong with the command line; the library's own text where that says what is expected.
std::string mistake(const CLI::App& app, const CLI::ParseError& error) {
  // An unknown word says more than what is missing because of it.
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) return fmt::format("\"{}\" is not known here", unknown[0]);
  const std::string text = error.what();
  if (error.get_name() != "ConversionError" || app.get_subcommands().empty()) return text;
  for (const CLI::Option* option : app.get_subcommands()[0]->get_options()) {
    if (option->count() == 0 || !text.contains(option->get_name() + " = ")) continue;
    const std::string type = option->get_type_name();
    if (type.empty()) return text;  // a flag, which takes no value
    return fmt::format("{} is \"{}\", expected a {}number{}", option->get_name(),
                       option->results().back(), type.starts_with("FLOAT") ? "" : "whole ",
                       type.starts_with("UINT") ? fmt::format(" from 0 to {}", UINT32_MAX) : "");
  }
  return text;
}

int run(int argc, char** argv) {
  CLI::App app("Runs language models on the GPU at hand.", "tokamak");
  app.require_subcommand(1);
  app.footer(kExamples);
  app.set_version_flag("--version", "tokamak " TOKAMAK_VERSION);
  Action action;
  add_run(app, action);
  add_chat(app, action);
  add_embed(app, action);
  add_logits(app, action);
  add_tokenize(app, action);
  add_template(app, action);
  add_inspect(app, action);
  add_bench(app, action);
  add_profile(app, action);
  add_tune(app, action);
  add_doctor(app, action);
  add_sampler(app, action);
  add_pull(app, action);
  add_list(app, action);
  add_rm(app, action);
  add_cache(app, action);
  try {  // the command line library reports through exceptions
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    const auto chosen = app.get_subcommands();
    note(fmt::format("error: {} (see tokamak{} --help)\n", mistake(app, error),
                     chosen.empty() ? "" : " " + chosen[0]->get_name()));
    return exit_code(ErrorCode::kUsage);
  }
  const Result<void> status = action();
  if (status) return 0;
  note(fmt::format("error: {}\n", status.error().message));
  return exit_code(status.error().code);
}

}  // namespace
}  // namespace tokamak::cli

int main(int argc, char** argv) {
  return tokamak::cli::run(argc, argv);
}
