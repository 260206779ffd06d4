#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

Result<void> run_template(const std::string& source) {
  TOK_TRY(const std::string text, read_stdin());
  auto variables = Json::parse(text);
  if (!variables) return Failure(variables.error().within("standard input"));
  if (!variables->is_object()) {
    return invalid_input("standard input: found {}, expected an object with messages.",
                         kind_name(variables->kind()));
  }
  ModelFiles files;
  if (source.ends_with(".jinja")) {
    files.name = source;
    TOK_TRY(files.chat_template, read_input(source, uint64_t{16} << 20));
  } else {
    TOK_TRY(const std::string folder, find_model(source));
    TOK_TRY(files, read_text_files(folder));
  }
  // Templates would answer this with a message of their own about what they do first.
  const Json* messages = variables->find("messages");
  if (messages == nullptr || !messages->is_array()) {
    return invalid_input("standard input: messages is {}, expected a list.",
                         messages == nullptr ? "missing" : kind_name(messages->kind()));
  }
  auto rendered = render_chat(files, *variables);
  if (!rendered) return Failure(rendered.error().within(files.name));
  return print(*rendered);
}

}  // namespace

void add_template(App& app, Action& action) {
  App* command = app.add_subcommand("template", "render a conversation as the model expects it");
  command->footer(
      R"(Reads {"messages": [...], "tools": [...], "add_generation_prompt": true, ...} and prints
exactly the rendered text.
Example:
  echo '{"messages": [{"role": "user", "content": "Hello"}]}' | tokamak template path/to/model)");
  auto source = std::make_shared<std::string>();
  command->group(kCheckingCommands);
  add_model(*command, *source,
            "model folder, org/name, .gguf or .jinja file; the built-in model without");
  command->callback([source, &action] { action = [source] { return run_template(*source); }; });
}

}  // namespace tokamak::cli
