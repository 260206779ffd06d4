// tokamak: the command line. kExamples has the exit statuses.
#include "apps/cli/command.h"
#include "base/system/arguments.h"

namespace tokamak::cli {
namespace {

constexpr const char* kExamples = R"(Options:
  -h, --help       this text; also `tokamak help`
  -v, --version    the version; also `tokamak version`

Examples:
  tokamak run -p "Once upon a time"            the built-in storyteller
  tokamak run path/to/model -p "Hello" -n 64   a Hugging Face folder or a .gguf file
  tokamak chat                                 talk to it
  tokamak serve                                answer programs over HTTP
  tokamak pull org/name                        fetch a model; then its name is enough
  tokamak doctor                               which devices work, and what to do about the others

`tokamak help COMMAND` explains a command.

Exit status: 0 done, 2 wrong usage, 3 bad input or no answer from a hub, 4 well formed but not
supported, 5 the device or the memory, 6 the output cannot be written, 70 a defect of the program,
130 interrupted.)";

/// Leads from a mistake to its explanation; the command line's own mistakes have done so already.
std::string with_help(const Error& error, const App* command) {
  if (error.code != ErrorCode::kUsage || command == nullptr) return error.message;
  std::string text = error.message;
  if (text.ends_with('.')) text.pop_back();
  return fmt::format("{} (see {} --help)", text, command->full_name());
}

/// An error without a message has been printed before.
int failed(const Error& error, const App* command) {
  if (error.code == ErrorCode::kCancelled) {
    note("Interrupted.\n");
  } else if (!error.message.empty()) {
    note(fmt::format("error: {}\n", with_help(error, command)));
  }
  return output_failed() ? kOutputStatus : exit_code(error.code);
}

std::string& started_with() {
  static std::string line = "tokamak";
  return line;
}

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

int run_program(const std::vector<std::string>& words) {
  App app("tokamak",
          "Runs models on the GPU at hand: they write, see, hear, speak, and make vectors "
          "of texts.");
  app.footer(kExamples);
  Action action;
  add_run(app, action);
  add_chat(app, action);
  add_describe(app, action);
  add_transcribe(app, action);
  add_speak(app, action);
  add_talk(app, action);
  add_serve(app, action);
  add_ps(app, action);
  add_mcp(app, action);
  add_embed(app, action);
  add_rerank(app, action);
  add_memory(app, action);
  add_pull(app, action);
  add_list(app, action);
  add_rm(app, action);
  add_cache(app, action);
  add_doctor(app, action);
  add_bench(app, action);
  add_perplexity(app, action);
  add_compare(app, action);
  add_inspect(app, action);
  add_profile(app, action);
  add_tune(app, action);
  add_quantize(app, action);
  add_imatrix(app, action);
  add_merge(app, action);
  add_tokenize(app, action);
  add_template(app, action);
  add_logits(app, action);
  add_sampler(app, action);
  for (const std::string& word : words) started_with() += ' ' + quoted(word);
  const auto parsed = app.parse(words);
  if (!parsed) return failed(parsed.error(), nullptr);
  const App* command = parsed->command;
  Result<void> status;
  switch (parsed->asked) {
    case App::Asked::kVersion:
      status = print("tokamak " TOKAMAK_VERSION "\n");
      break;
    case App::Asked::kHelp:
    case App::Asked::kHelpAll:
      status = print(command->help(parsed->asked == App::Asked::kHelpAll, screen_columns()));
      break;
    case App::Asked::kNothing:
      status = print(command->help(false, screen_columns()));
      if (status) return exit_code(ErrorCode::kUsage);
      break;
    case App::Asked::kCommand:
      status = action();
      break;
  }
  return status ? 0 : failed(status.error(), command);
}

}  // namespace

const std::string& command_line() {
  return started_with();
}

}  // namespace tokamak::cli

int main(int argc, char** argv) {
  tokamak::cli::open_closed_streams();
  tokamak::cli::end_without_memory();
  tokamak::cli::handle_signals();
  return tokamak::cli::run_program(tokamak::program_arguments(argc, argv));
}
