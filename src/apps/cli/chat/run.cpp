#include <cmath>

#include "apps/cli/chat/answer_text.h"
#include "apps/cli/chat/chat_template_choice.h"
#include "apps/cli/chat/reasoned_answer.h"
#include "apps/cli/command.h"
#include "report/bench/guesses.h"

namespace tokamak::cli {
namespace {

struct RunFlags {
  ModelFlags model;
  SamplingFlags sampling;
  ThinkFlags think;
  std::string prompt, file, system, chat_template;
  bool prompt_given = false, json = false, stats = false, chat = false;
  int logprobs = -1;
};

Json logprob_json(const Tokenizer& tokenizer, const TokenLogprob& entry) {
  Json json;
  json.set("id", entry.id);
  json.set("token", std::string(tokenizer.token(entry.id).value_or("")));
  json.set("logprob", to_json(entry.logprob));
  return json;
}

double per_second(size_t count, double seconds) {
  return seconds > 0 ? double(count) / seconds : 0;
}

/// Tokens that were generated one after the other; the first one comes with the prompt.
size_t decoded(const Generation& result) {
  return std::max(result.ids.size(), size_t{1}) - 1;
}

std::string stats_line(Engine& engine, const Generation& result) {
  return fmt::format(
      "\n[{} on {}: {} prompt tokens in {:.3f} s ({:.1f} tok/s), {} generated at {:.1f} tok/s, "
      "ended by {}{}; loaded in {:.2f} s, pipelines: {}]\n",
      backend_name(engine.device().backend), engine.device().name, result.prompt_tokens,
      result.prefill_seconds, per_second(result.prompt_tokens, result.prefill_seconds),
      result.ids.size(), per_second(decoded(result), result.decode_seconds),
      finish_name(result.finish), guesses_text(engine), engine.load_times().total_seconds,
      pipelines_text(engine.compile_report()));
}

/// The measurements, in seconds and tokens per second of three and one decimals.
Json timings_json(const Engine& engine, const Generation& result) {
  const auto rounded = [](double value, double scale) { return std::round(value * scale) / scale; };
  Json json;
  json.set("load_seconds", rounded(engine.load_times().total_seconds, 1e3));
  json.set("prompt_seconds", rounded(result.prefill_seconds, 1e3));
  json.set("generate_seconds", rounded(result.decode_seconds, 1e3));
  json.set("prompt_tokens_per_second",
           rounded(per_second(result.prompt_tokens, result.prefill_seconds), 10));
  json.set("generated_tokens_per_second",
           rounded(per_second(decoded(result), result.decode_seconds), 10));
  return json;
}

/// A prompt in the place of MODEL is the commonest mistake of a first try.
Result<void> check_model_word(const RunFlags& flags) {
  const std::string& model = flags.model.model();
  const bool has_prompt = flags.prompt_given || !flags.file.empty();
  const bool is_text = model.find_first_of(" \t\n") != model.npos;
  if ((has_prompt && !is_text) || hub::parse_model_name(model)) return {};
  const auto found = find_model(model);
  if (found) return {};
  const std::string hint =
      fmt::format("a prompt needs -p before it: tokamak run -p {}", Json(model).dump());
  if (is_text) return fail(ErrorCode::kUsage, "There is no model \"{}\"; {}", model, hint);
  std::string why = found.error().message;
  if (why.ends_with('.')) why.pop_back();
  return fail(found.error().code, "{}; {}", why, hint);
}

Result<std::string> read_prompt(const RunFlags& flags) {
  const bool is_text = flags.prompt_given && flags.prompt != "-";
  if (is_text) return flags.prompt;
  const bool is_file = !flags.file.empty() && flags.file != "-";
  if (!is_file && flags.sampling.has_read_stdin()) {
    return fail(ErrorCode::kUsage,
                "Standard input is the schema or the grammar; the prompt is to be given by -p TEXT "
                "or -f FILE.");
  }
  const bool is_asked_for = flags.prompt_given || !flags.file.empty();
  if (!is_asked_for && stdin_is_terminal()) {
    return fail(ErrorCode::kUsage,
                "A prompt is missing: -p TEXT, -f FILE, or standard input; `tokamak chat` asks for "
                "one line after the other.");
  }
  TOK_TRY(std::string text, read_text(flags.file));
  if (!is_asked_for && text.empty()) {
    return fail(ErrorCode::kUsage,
                "A prompt is missing: there is no --prompt, and standard input is empty.");
  }
  return without_line_end(std::move(text));
}

Json chat_variables(const RunFlags& flags, const std::string& prompt) {
  Json::Array messages;
  const auto add = [&](const char* role, const std::string& content) {
    Json message;
    message.set("role", role).set("content", content);
    messages.push_back(std::move(message));
  };
  if (!flags.system.empty()) add("system", flags.system);
  add("user", prompt);
  Json variables;
  variables.set("messages", std::move(messages)).set("add_generation_prompt", true);
  return variables;
}

/// The generated text, with the reasoning in front of it.
struct Written {
  Generation result;
  std::string reasoning;
};

Json result_json(const Engine& engine, const RunFlags& flags, const std::string& prompt,
                 const Written& written) {
  const Generation& result = written.result;
  Json out;
  out.set("prompt", prompt).set("text", result.text);
  if (!written.reasoning.empty()) out.set("reasoning", written.reasoning);
  out.set("tokens", to_json(result.ids));
  out.set("finish", std::string(finish_name(result.finish))).set("seed", result.seed);
  out.set("prompt_tokens", uint64_t{result.prompt_tokens});
  add_origin(out, engine, flags.model.model());
  out.set("timings", timings_json(engine, result));
  return out;
}

/// A run on its way: what is shown of it, and what is collected for --json.
class Run {
 public:
  Run(const RunFlags& flags, Engine& engine, const Tokenizer& tokenizer, GenerationParams params)
      : flags_(flags),
        engine_(engine),
        tokenizer_(tokenizer),
        params_(std::move(params)),
        waiting_(compiles_while_running(engine)) {}

  Result<Written> continued(const std::string& prompt);
  Result<Written> answered(const std::string& prompt, const TemplateChoice& choice);
  void end_waiting() { waiting_.end(); }
  Json::Array logprobs() { return std::move(logprobs_); }

 private:
  GenerationCallbacks callbacks(const Result<void>& status, std::function<bool()> is_hidden);

  const RunFlags& flags_;
  Engine& engine_;
  const Tokenizer& tokenizer_;
  GenerationParams params_;
  AnswerWaiting waiting_;
  Json::Array logprobs_;
};

GenerationCallbacks Run::callbacks(const Result<void>& status, std::function<bool()> is_hidden) {
  GenerationCallbacks out;
  out.cancelled = [&status] { return interrupted() || !status; };
  out.token = [this, is_hidden = std::move(is_hidden)](uint32_t, const Logprobs* logprobs) {
    when_interrupted(OnInterrupt::kStop);  // a token is soon made: what there is can be told
    if (is_hidden()) {
      waiting_.hidden_token();
    } else {
      waiting_.token();
    }
    if (logprobs == nullptr) return;
    Json entry = logprob_json(tokenizer_, logprobs->chosen);
    Json::Array top;
    for (const TokenLogprob& one : logprobs->top) top.push_back(logprob_json(tokenizer_, one));
    entry.set("top", std::move(top));
    logprobs_.push_back(std::move(entry));
  };
  return out;
}

Result<Written> Run::continued(const std::string& prompt) {
  // The prompt appears with what follows it, so that the line about the wait has the terminal.
  std::string unprinted = flags_.json ? "" : prompt;
  AnswerText text(/*shows_reasoning=*/false);
  const auto show = [&](std::string_view more) {
    if (flags_.json) return;
    text.show(false, std::exchange(unprinted, {}));
    text.show(false, more);
  };
  GenerationCallbacks callbacks = this->callbacks(text.status(), [&] {
    show("");
    return false;
  });
  callbacks.text = show;
  auto result = engine_.generate(prompt, params_, callbacks);
  waiting_.end();
  if (!flags_.json && (result || unprinted.empty())) {
    show("");
    text.end();
  }
  TOK_TRY(text.status());
  if (!result) return Failure(result.error());
  return Written{*std::move(result), ""};
}

Result<Written> Run::answered(const std::string& prompt, const TemplateChoice& choice) {
  const Reasoning reasoning(engine_, tokenizer_, choice.jinja);
  // A grammar has no room for reasoning in front of what it describes.
  const Think think = params_.grammar ? Think::kOff : flags_.think.think();
  reasoning.adjust(params_, think, flags_.sampling.is_limited());
  TOK_TRY(ThinkingPrompt own,
          reasoning.prompt(chat_variables(flags_, prompt), flags_.think.variables(), think));
  AnswerText text(shows_reasoning(think));
  AnswerReader reader(tokenizer_, std::move(own.form), reasoning.marks(),
                      std::exchange(params_.stop, {}),
                      params_.end_ids.value_or(std::vector<uint32_t>()),
                      [&](bool is_reasoning, std::string_view more) {
                        if (!flags_.json) text.show(is_reasoning, more);
                      });
  Request request{.prompt = std::move(own.prompt.ids), .params = params_};
  request.callbacks = callbacks(text.status(), [&] {
    return reader.is_reasoning() && !flags_.json && !shows_reasoning(think);
  });
  TOK_TRY(const std::vector<uint32_t> closing, reasoning.closing_ids());
  auto result =
      generate_answer(engine_, std::move(request), reader, flags_.think.budget(), closing);
  waiting_.end();
  if (!result) return Failure(result.error());
  if (!flags_.json) text.end();
  TOK_TRY(text.status());
  if (!shows_reasoning(think) && !flags_.json) note(unfinished_reasoning(reader, *result));
  return Written{*std::move(result), reader.reasoning()};
}

Result<void> run_prompts(const RunFlags& flags) {
  TOK_TRY(check_model_word(flags));
  TOK_TRY(const std::string prompt, read_prompt(flags));
  TOK_TRY(TemplateChoice choice, choose_template(flags.chat_template));
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(const std::unique_ptr<Engine> engine, flags.model.open());
  TOK_TRY(const Tokenizer* tokenizer, engine->tokenizer());
  TOK_TRY(const GenerationParams defaults, engine->defaults());
  TOK_TRY(GenerationParams params, flags.sampling.params(defaults));
  if (flags.chat) {
    TOK_TRY(find_own_template(flags.chat_template, engine->files(), choice));
    TOK_TRY(add_end(choice, *tokenizer, params));
  }
  params.logprobs = flags.logprobs >= 0;
  params.top_logprobs = uint32_t(std::max(flags.logprobs, 0));
  const bool has_logprobs = params.logprobs;
  Run running(flags, *engine, *tokenizer, std::move(params));
  const auto written = flags.chat ? running.answered(prompt, choice) : running.continued(prompt);
  running.end_waiting();
  if (!written) return Failure(written.error().within(engine->files().name));
  const Generation& result = written->result;
  if (flags.json) {
    Json out = result_json(*engine, flags, prompt, *written);
    if (has_logprobs) out.set("logprobs", running.logprobs());
    TOK_TRY(print(out.dump() + "\n"));
  }
  if (flags.stats || stderr_is_terminal()) note(stats_line(*engine, result));
  // The partial text has been printed; only the exit status shows that it is not all.
  if (result.finish == FinishReason::kCancelled) return Failure(Error{ErrorCode::kCancelled, ""});
  return {};
}

}  // namespace

void add_run(App& app, Action& action) {
  App* command = app.add_subcommand("run", "continue a text");
  command->footer(R"(Examples:
  tokamak run -p "Once upon a time"
  tokamak run org/name --pull -p "Hello" --chat    fetched first when it is not there yet
  tokamak run path/to/model -p "The sea" -n 200 --temp 0.7 --top-p 0.9 --seed 1
  tokamak run path/to/model -p "A list:" --stop "The end" --stop "THE END"
  tokamak run path/to/model -p "The sea" --quantize q4    weights in 4 bits
  tokamak run path/to/model -p "The sea" --lora path/to/adapter    with a LoRA adapter
  tokamak run path/to/model -p "The sea" --draft path/to/small    a small model guesses ahead
  tokamak run path/to/model -p "Yes or no? " --grammar 'root ::= "yes" | "no"'
  tokamak run path/to/model --chat -p "Who wrote Emma?" --json-schema answer.json
  tokamak run path/to/model --chat -p "17 * 23?" --think off    the answer without reasoning
  tokamak run path/to/model -p "The year of the fire: " --regex '1[0-9]{3}'
  echo "Dear diary," | tokamak run path/to/model --json)");
  command->extra_words("a prompt is given by -p TEXT");
  auto flags = std::make_shared<RunFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  flags->model.add_adapters(*command, /*several=*/false);
  flags->model.add_speculation(*command);
  Option* prompt =
      command->add_option("-p,--prompt", flags->prompt,
                          "the text to continue; standard input without it, or where it is -");
  command
      ->add_option("-f,--file", flags->file,
                   "read the prompt from this file or pipe; - is standard input")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"))
      ->excludes(prompt);
  Option* chat =
      command->add_flag("--chat", flags->chat, "put the prompt through the model's chat template");
  command->add_option("-sys,--system", flags->system, "with --chat: what the model is told first")
      ->needs(chat);
  add_chat_template(*command, flags->chat_template)->needs(chat);
  flags->think.add(*command, chat);
  flags->sampling.add(*command);
  Option* json =
      command->add_flag("--json", flags->json, "one JSON object instead of streamed text");
  command
      ->add_option("--logprobs", flags->logprobs,
                   "with --json: log-probability of each token and of the N best others")
      ->needs(json)
      ->check(in_range(0, 100));
  command->add_flag("-v,--stats", flags->stats, "speed on standard error, also into a pipe");
  command->callback([flags, prompt, &action] {
    flags->prompt_given = prompt->count() > 0;
    action = [flags] { return run_prompts(*flags); };
  });
}

}  // namespace tokamak::cli
