#include <unistd.h>

#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

struct ChatFlags {
  ModelFlags model;
  SamplingFlags sampling;
  std::string system;
};

constexpr const char* kHelp = R"(/help     this
/reset    forget the conversation
/system TEXT   set what the model is told first, and start over
/retry    answer the last message again
/quit     leave (also Ctrl-D)
Ctrl-C ends an answer.
)";

class Conversation {
 public:
  explicit Conversation(std::string system) : system_(std::move(system)) { reset(); }

  void reset() {
    messages_.clear();
    if (!system_.empty()) add("system", system_);
  }
  void set_system(std::string text) {
    system_ = std::move(text);
    reset();
  }
  void add(const char* role, std::string content) {
    Json message;
    message.set("role", role).set("content", std::move(content));
    messages_.push_back(std::move(message));
  }
  /// Drops the last exchange and returns its question; "" when there is none.
  std::string take_back() {
    std::string question;
    while (question.empty() && !messages_.empty()) {
      const Json last = messages_.back();
      const std::string role = last.find("role")->as_string();
      if (role == "system") break;
      if (role == "user") question = last.find("content")->as_string();
      messages_.pop_back();
    }
    return question;
  }
  Json variables() const {
    Json json;
    json.set("messages", messages_).set("add_generation_prompt", true);
    return json;
  }

 private:
  std::string system_;
  Json::Array messages_;
};

/// One line of input without its end; nothing at the end of input.
std::optional<std::string> read_line() {
  std::string line;
  char c = 0;
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, &c, 1);
    if (count <= 0) {
      if (interrupted() || line.empty()) return std::nullopt;
      return line;
    }
    if (c == '\n') return line;
    line += c;
  }
}

Result<void> answer(Engine& engine, Conversation& conversation, const std::string& question,
                    const SamplingFlags& sampling) {
  TOK_TRY(const GenerationParams params, sampling.params(engine.defaults()));
  conversation.add("user", question);
  TOK_TRY(const std::string rendered, engine.render_chat(conversation.variables()));
  Result<void> printed;
  GenerationCallbacks callbacks;
  callbacks.cancelled = [&] { return interrupted() || !printed; };
  callbacks.text = [&](std::string_view text) {
    if (printed) printed = print(text);
  };
  TOK_TRY(const Generation result, engine.generate_rendered(rendered, params, callbacks));
  TOK_TRY(printed);
  clear_interrupt();
  conversation.add("assistant", result.text);
  if (result.finish == FinishReason::kContextFull) {
    note("\n[the context is full: /reset starts over]");
  }
  return print("\n");
}

Result<void> run(const ChatFlags& flags) {
  TOK_TRY(const std::unique_ptr<Engine> engine, flags.model.open());
  TOK_TRY(engine->tokenizer());
  TOK_TRY(flags.sampling.params(engine->defaults()));  // mistakes in flags show at once
  const bool talking = stderr_is_terminal();
  if (talking)
    note(fmt::format("{} on {}. /help lists the commands.\n", engine->files().name,
                     engine->device().name));
  catch_interrupts();
  Conversation conversation(flags.system);
  for (;;) {
    if (talking) note("> ");
    const auto line = read_line();
    if (!line) break;
    std::string question = *line;
    if (question == "/quit" || question == "/exit") break;
    if (question.empty()) continue;
    if (question == "/help") {
      note(kHelp);
      continue;
    }
    if (question == "/reset") {
      conversation.reset();
      continue;
    }
    if (question == "/system" || question == "/system ") {
      note("/system needs a text.\n");
      continue;
    }
    if (question.starts_with("/system ")) {
      conversation.set_system(question.substr(8));
      continue;
    }
    if (question == "/retry") {
      question = conversation.take_back();
      if (question.empty()) {
        note("There is nothing to retry.\n");
        continue;
      }
    } else if (question.starts_with('/')) {
      note(fmt::format("There is no command {}; /help lists them.\n", question));
      continue;
    }
    const Result<void> status = answer(*engine, conversation, question, flags.sampling);
    if (status) continue;
    // A conversation that has grown too long, or that the template refuses, can go on differently.
    if (status.error().code != ErrorCode::kInvalidInput || !talking) return status;
    note(fmt::format("error: {}\n", status.error().message));
    conversation.take_back();
  }
  if (talking) note("\n");
  return {};
}

}  // namespace

void add_chat(App& app, Action& action) {
  App* command = app.add_subcommand("chat", "talk to a model");
  command->footer(R"(Examples:
  tokamak chat
  tokamak chat path/to/model --system "Answer briefly." --temp 0.7
  echo "Tell me a story about a fox." | tokamak chat)");
  auto flags = std::make_shared<ChatFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  command->add_option("--system", flags->system, "what the model is told first");
  flags->sampling.add(*command);
  command->get_option("--max-tokens")->default_val("512");
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace tokamak::cli
