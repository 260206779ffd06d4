// tokamak chat: a conversation at a terminal, or with the lines of a pipe.
#include <array>

#include "apps/cli/chat/answer_text.h"
#include "apps/cli/chat/chat_conversation.h"
#include "apps/cli/chat/chat_input.h"
#include "apps/cli/chat/chat_memory.h"
#include "apps/cli/chat/chat_settings.h"
#include "apps/cli/chat/chat_template_choice.h"
#include "apps/cli/chat/reasoned_answer.h"
#include "apps/cli/command.h"
#include "base/nearest.h"
#include "base/system/interactive_terminal.h"
#include "base/utf8.h"
#include "engine/requests/image_files.h"
#include "engine/requests/text_request.h"
#include "report/bench/guesses.h"
#include "report/inspect/inspect.h"

namespace tokamak::cli {
namespace {

struct ChatFlags {
  ModelFlags model;
  SamplingFlags sampling;
  ThinkFlags think;
  std::string system, chat_template, memory;
  uint32_t memory_budget = 0;  // 0: a quarter of the context, at most 1024
  double megapixels = 1;
  bool stats = false;
};

constexpr const char* kHelp = R"(/help                 this
/clear, /reset        forget the conversation
/system TEXT          set what the model is told first, and start over
/image FILE           show an image with the next message, or several one by one
/memory               what --memory has put before the last message
/retry                answer the last message again
/set [NAME VALUE]     change how tokens are sampled: /set temperature 0.7; without a name: list
/think on|off|hide    let the model reason, and show it, or not; without a word: how it is
/save FILE            write the conversation as JSON
/load FILE            go on with a conversation from a file
/stats                tokens and speed of the last answer; `tokamak chat -v` shows them each time
/bye, /quit           leave (also Ctrl-D)
A message of several lines begins and ends with """, or has \ at the ends of its lines; pasted
lines are one message. A space before a / sends it to the model. Ctrl-C ends an answer.
)";

constexpr std::array<std::string_view, 16> kCommands = {
    "/help", "/clear", "/reset", "/system", "/image", "/retry", "/set",    "/save",
    "/load", "/stats", "/bye",   "/quit",   "/exit",  "/?",     "/memory", "/think"};

class Chat {
 public:
  /// `memory`: null for none.
  Chat(const ChatFlags& flags, Engine& engine, const Tokenizer& tokenizer, TemplateChoice choice,
       std::unique_ptr<ChatMemory> memory)
      : flags_(flags),
        engine_(engine),
        tokenizer_(tokenizer),
        context_(engine.compiled().context),
        template_(std::move(choice)),
        reasoning_(engine, tokenizer, template_.jinja),
        think_(flags.think.think()),
        memory_(std::move(memory)),
        conversation_(flags.system) {}

  Result<void> talk(const std::string& name);

 private:
  Result<GenerationParams> params() const;
  /// False where the person leaves.
  Result<bool> take(std::string message);
  Result<bool> obey(std::string_view command, std::string argument);
  void set(std::string_view argument);
  void set_thinking(std::string_view argument);
  void show(const std::string& path);
  /// Reports a command that failed. Where nobody sees it at once the exit status has it, too.
  void complain(const Error& error);
  /// Errors are those that end the chat.
  Result<void> answer(Question question);
  /// The image of a file, encoded.
  Result<AttachedImage> attach(const std::string& path);
  Result<Generation> generate();
  void print_end_reason(const Generation& result) const;
  Result<void> explain(const Error& error) const;
  std::string room_hint() const;
  std::string stats() const;

  const ChatFlags& flags_;
  Engine& engine_;
  const Tokenizer& tokenizer_;
  const uint32_t context_;
  TemplateChoice template_;
  Reasoning reasoning_;
  Think think_;
  std::unique_ptr<ChatMemory> memory_;
  Conversation conversation_;
  std::vector<AttachedImage> images_;  // for the next message
  ChatSettings settings_;
  std::optional<Generation> last_;
  std::string thoughts_;  // of the last answer
  bool is_at_terminal_ = false;
  Result<void> commands_;  // a failure without its message, where one has failed
};

Result<void> Chat::talk(const std::string& name) {
  const std::string history = history_path();
  std::unique_ptr<LineReader> reader = terminal_reader(load_history(history));
  is_at_terminal_ = reader != nullptr;
  if (!is_at_terminal_) reader = plain_reader();
  if (is_at_terminal_) {
    note(fmt::format("{}, {}, context {}, on {}. /help lists the commands.\n", name,
                     quantization_name(engine_.files(), engine_.compiled()), context_,
                     engine_.device().name));
  }
  bool has_shown_exit_hint = false;
  for (;;) {
    const Typed typed = read_message(*reader);
    if (typed.kind == Typed::Kind::kEnd) break;
    if (typed.kind == Typed::Kind::kFailure) return invalid_input("{}", typed.text);
    if (typed.kind == Typed::Kind::kInterrupt) {
      if (!is_at_terminal_) return Failure(Error{ErrorCode::kCancelled, ""});
      InteractiveTerminal::clear_interrupt();
      if (typed.text.empty() && !std::exchange(has_shown_exit_hint, true)) {
        note("Ctrl-D or /bye to leave.\n");
      }
      continue;
    }
    if (typed.text.find_first_not_of(" \t\n") == std::string::npos) continue;
    if (!is_valid_utf8(typed.text)) {
      complain({ErrorCode::kInvalidInput, "The message is not valid UTF-8, and was left out."});
      continue;
    }
    reader->remember(typed.text);
    if (is_at_terminal_) append_to_history(history, typed.text);
    TOK_TRY(const bool continues, take(typed.text));
    if (!continues) return commands_;
  }
  if (is_at_terminal_) note("\n");
  return commands_;
}

void Chat::complain(const Error& error) {
  note(fmt::format("error: {}\n", error.message));
  if (!is_at_terminal_) commands_ = Failure(Error{ErrorCode::kInvalidInput, ""});
}

Result<GenerationParams> Chat::params() const {
  TOK_TRY(const GenerationParams defaults, engine_.defaults());
  TOK_TRY(GenerationParams params, flags_.sampling.params(defaults));
  TOK_TRY(add_end(template_, tokenizer_, params));
  reasoning_.adjust(params, params.grammar ? Think::kOff : think_, flags_.sampling.is_limited());
  settings_.apply(params);
  return params;
}

Result<bool> Chat::take(std::string message) {
  if (message.starts_with('/')) {
    const size_t end = std::min(message.find_first_of(" \t\n"), message.size());
    const size_t rest = std::min(message.find_first_not_of(" \t\n", end), message.size());
    std::string argument = message.substr(rest);
    argument.resize(argument.find_last_not_of(" \t\n") + 1);
    return obey(std::string_view(message).substr(0, end), std::move(argument));
  }
  if (message.starts_with(" /")) message.erase(0, 1);
  TOK_TRY(answer({std::move(message), std::exchange(images_, {})}));
  return true;
}

Result<bool> Chat::obey(std::string_view command, std::string argument) {
  const auto needs = [&](std::string_view what) {
    if (argument.empty())
      complain({ErrorCode::kInvalidInput, fmt::format("{} needs {}.", command, what)});
    return !argument.empty();
  };
  const auto report = [&](const Result<void>& status, const std::string& done) {
    if (status) note(done);
    if (!status) complain(status.error());
  };
  const auto messages = [&] {
    const size_t count = conversation_.messages();
    return fmt::format("{} message{}", count, count == 1 ? "" : "s");
  };
  if (command == "/bye" || command == "/quit" || command == "/exit") return false;
  if (command == "/help" || command == "/?") {
    note(kHelp);
  } else if (command == "/clear" || command == "/reset") {
    conversation_.clear();
    images_.clear();
  } else if (command == "/system") {
    if (needs("a text")) conversation_.start_over(std::move(argument));
  } else if (command == "/image") {
    if (needs("a file")) show(argument);
  } else if (command == "/retry") {
    Question question = conversation_.take_back();
    if (!question.text.empty()) {
      TOK_TRY(answer(std::move(question)));
    } else {
      note("There is nothing to retry.\n");
    }
  } else if (command == "/set") {
    set(argument);
  } else if (command == "/think") {
    set_thinking(argument);
  } else if (command == "/save") {
    if (needs("a file")) {
      report(conversation_.save(argument), fmt::format("{} saved in {}.\n", messages(), argument));
    }
  } else if (command == "/load") {
    if (needs("a file")) {
      const auto status =
          conversation_.load(argument, [&](const std::string& path) { return attach(path); });
      report(status, fmt::format("{} read.\n", messages()));
    }
  } else if (command == "/memory") {
    note(memory_ ? memory_->shown() : "`tokamak chat --memory FILE` has one.\n");
  } else if (command == "/stats") {
    note(last_ ? stats() : "There has been no answer yet.\n");
  } else {
    complain({ErrorCode::kInvalidInput, fmt::format("There is no command {}{}; /help lists them.",
                                                    command, did_you_mean(command, kCommands))});
  }
  return true;
}

void Chat::set(std::string_view argument) {
  const auto current = params();
  if (!current) return;  // the flags were right at the start
  const size_t space = std::min(argument.find_first_of(" \t="), argument.size());
  const size_t value = std::min(argument.find_first_not_of(" \t=", space), argument.size());
  if (argument.empty()) {
    note(settings_.table(*current));
    return;
  }
  const std::string_view name = argument.substr(0, space);
  if (name == "think") return set_thinking(argument.substr(value));
  const auto status = settings_.set(name, argument.substr(value), *current);
  if (!status) complain(status.error());
}

void Chat::set_thinking(std::string_view argument) {
  if (argument.empty()) {
    note(fmt::format("think: {}\n", think_name(think_)));
  } else if (const auto think = think_named(argument)) {
    think_ = *think;
    if (!reasoning_.is_there()) note("The model is not known to reason.\n");
  } else {
    complain({ErrorCode::kInvalidInput,
              fmt::format("think is \"{}\", expected on, off or hide.", argument)});
  }
}

Result<Generation> Chat::generate() {
  TOK_TRY(GenerationParams params, this->params());
  Json variables = conversation_.variables();
  if (memory_ != nullptr) {
    TOK_TRY(memory_->put_before_last(variables));
    note(memory_->sources());
  }
  // A grammar has no room for reasoning in front of what it describes.
  const Think think = params.grammar ? Think::kOff : think_;
  TOK_TRY(ThinkingPrompt own,
          reasoning_.prompt(std::move(variables), flags_.think.variables(), think));
  AnswerText text(shows_reasoning(think));
  AnswerReader reader(
      tokenizer_, std::move(own.form), reasoning_.marks(), std::exchange(params.stop, {}),
      params.end_ids.value_or(std::vector<uint32_t>()),
      [&](bool is_reasoning, std::string_view more) { text.show(is_reasoning, more); });
  AnswerWaiting waiting(compiles_while_running(engine_));
  GenerationCallbacks callbacks;
  callbacks.token = [&](uint32_t, const Logprobs*) {
    if (reader.is_reasoning() && !shows_reasoning(think)) {
      waiting.hidden_token();
    } else {
      waiting.token();
    }
  };
  callbacks.cancelled = [&] { return InteractiveTerminal::interrupted() || !text.status(); };
  Request request{.images = conversation_.images(), .params = params, .callbacks = callbacks};
  TOK_TRY(request.prompt, engine_.place_images(own.prompt.ids, request.images));
  const size_t tokens = request.prompt.size();
  TOK_TRY(const std::vector<uint32_t> closing, reasoning_.closing_ids());
  auto result =
      generate_answer(engine_, std::move(request), reader, flags_.think.budget(), closing);
  waiting.end();
  if (result) text.end();
  if (!text.status()) return Failure(text.status().error());
  if (result) {
    thoughts_ = reader.reasoning();
    if (!shows_reasoning(think)) note(unfinished_reasoning(reader, *result));
  }
  if (result || result.error().code != ErrorCode::kInvalidInput) return result;
  if (tokens <= context_) return result;
  return invalid_input("The conversation has {} tokens and the context {}. {}", tokens, context_,
                       room_hint());
}

Result<AttachedImage> Chat::attach(const std::string& path) {
  TOK_TRY(engine_.check_images());
  TOK_TRY(const Image image, image_of_file(expanded(path)));
  const Waiting waiting("encoding the image");
  TOK_TRY(ImageRef encoded, engine_.encode_image(image));
  return AttachedImage{path, std::move(encoded)};
}

void Chat::show(const std::string& path) {
  auto image = attach(path);
  if (!image) return complain(image.error());
  images_.push_back(*std::move(image));
  note(fmt::format("{} goes with the next message, {} tokens.\n", path,
                   images_.back().image->ids().size()));
}

Result<void> Chat::answer(Question question) {
  conversation_.ask(std::move(question));
  auto result = generate();
  InteractiveTerminal::clear_interrupt();
  if (!result) return explain(result.error());
  const bool is_cancelled = result->finish == FinishReason::kCancelled;
  if (!result->text.empty() || !is_cancelled) conversation_.answer(result->text, thoughts_);
  print_end_reason(*result);
  last_ = *std::move(result);
  if (flags_.stats) note(stats());
  if (is_cancelled && !is_at_terminal_) return Failure(Error{ErrorCode::kCancelled, ""});
  return {};
}

void Chat::print_end_reason(const Generation& result) const {
  if (result.finish == FinishReason::kContextFull) {
    note(fmt::format("[The context of {} tokens is full. {}]\n", context_, room_hint()));
  }
  if (!is_at_terminal_) return;
  if (result.finish == FinishReason::kMaxTokens) {
    note(fmt::format("[Stopped after {} tokens; /set max-tokens N lets answers be longer.]\n",
                     result.ids.size()));
  } else if (result.finish == FinishReason::kCancelled && result.text.empty()) {
    note("[Stopped before the answer began; /retry asks again.]\n");
  }
}

/// A conversation that has grown too long, or that the template refuses, can go on differently.
Result<void> Chat::explain(const Error& error) const {
  if (error.code != ErrorCode::kInvalidInput || !is_at_terminal_ || output_failed()) {
    return Failure(error);
  }
  note(fmt::format("error: {}\n", error.message));
  return {};
}

std::string Chat::room_hint() const {
  const uint32_t most = engine_.compiled().facts.max_context;
  std::string hint = "/clear starts over";
  if (context_ < most) {
    hint += fmt::format("; `tokamak chat --context N` has room for up to {}", most);
  }
  return hint + ".";
}

std::string Chat::stats() const {
  const auto per_second = [](double tokens, double seconds) {
    return seconds > 0 ? tokens / seconds : 0.0;
  };
  const Generation& last = *last_;
  const double fed = double(last.prompt_tokens - last.cached_tokens);
  const double decoded = std::max(double(last.ids.size()) - 1, 0.0);
  return fmt::format(
      "[{} prompt tokens ({} cached) in {:.3f} s, {:.1f} tok/s; {} generated at {:.1f} tok/s; "
      "context {}/{}{}]\n",
      last.prompt_tokens, last.cached_tokens, last.prefill_seconds,
      per_second(fed, last.prefill_seconds), last.ids.size(),
      per_second(decoded, last.decode_seconds), last.prompt_tokens + last.ids.size(), context_,
      guesses_text(engine_));
}

Result<std::unique_ptr<ChatMemory>> open_memory(const ChatFlags& flags, const Engine& engine,
                                                uint32_t context) {
  constexpr uint32_t kMaxBudget = 1024;
  if (flags.memory.empty()) return nullptr;
  TOK_TRY(const Tokenizer* tokenizer, engine.tokenizer());
  const uint32_t budget =
      flags.memory_budget != 0 ? flags.memory_budget : std::min(kMaxBudget, context / 4);
  return ChatMemory::open(flags.memory, flags.model, *tokenizer, budget);
}

Result<void> run_chat(const ChatFlags& flags) {
  TOK_TRY(check_stdin());
  TOK_TRY(TemplateChoice choice, choose_template(flags.chat_template));
  TOK_TRY(OpenOptions options, flags.model.options());
  options.image_pixels = pixels_of(flags.megapixels);
  options.needs_images = false;
  options.task = Task::kText;
  const std::string model = options.model;
  TOK_TRY(const std::unique_ptr<Engine> engine, ModelFlags::open(std::move(options)));
  TOK_TRY(const Tokenizer* tokenizer, engine->tokenizer());
  TOK_TRY(find_own_template(flags.chat_template, engine->files(), choice));
  TOK_TRY(const GenerationParams defaults, engine->defaults());
  TOK_TRY(flags.sampling.params(defaults));  // mistakes in flags show at once
  TOK_TRY(std::unique_ptr<ChatMemory> memory,
          open_memory(flags, *engine, engine->compiled().context));
  const InteractiveTerminal terminal(paste_terminal());
  Chat chat(flags, *engine, *tokenizer, std::move(choice), std::move(memory));
  const bool is_own = !model.empty();
  return chat.talk(model_id(model, engine->files().name) + (is_own ? "" : " (built-in)"));
}

}  // namespace

void add_chat(App& app, Action& action) {
  App* command = app.add_subcommand("chat", "talk to a model");
  command->footer(R"(Examples:
  tokamak chat
  tokamak chat path/to/model --system "Answer briefly." --temp 0.7
  tokamak chat path/to/model --chat-template chatml      a model that comes without a template
  tokamak chat path/to/model --think off                  answers at once, where it would reason
  tokamak chat path/to/model --draft path/to/small        a small model guesses ahead
  tokamak chat --memory default                          with what `tokamak memory` keeps
  echo "Tell me a story about a fox." | tokamak chat)");
  auto flags = std::make_shared<ChatFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  flags->model.add_adapters(*command, /*several=*/false);
  flags->model.add_speculation(*command);
  flags->model.add_projector(*command);
  command->add_option("-sys,--system", flags->system, "what the model is told first");
  add_chat_template(*command, flags->chat_template);
  flags->think.add(*command, nullptr);
  flags->sampling.add(*command);
  command->get_option("--max-tokens")->default_val("512");
  Option* memory =
      command
          ->add_option("--memory", flags->memory,
                       "a store of `tokamak memory`: what it knows about a message stands before "
                       "it, quoted; default: the usual place")
          ->type_name("FILE")
          ->check(not_empty("a file or default"));
  command
      ->add_option("--memory-budget", flags->memory_budget,
                   "most tokens of it; default: a quarter of the context, at most 1024")
      ->check(in_range(1, 1 << 20))
      ->needs(memory);
  command
      ->add_option("--megapixels", flags->megapixels,
                   "images of /image are made smaller, to this; 0: text only")
      ->capture_default_str()
      ->check(in_range(0.0, 16.0));
  command->add_flag("-v,--stats", flags->stats, "tokens and speed after each answer");
  command->callback([flags, &action] { action = [flags] { return run_chat(*flags); }; });
}

}  // namespace tokamak::cli
