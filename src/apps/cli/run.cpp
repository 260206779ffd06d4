#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

struct RunFlags {
  ModelFlags model;
  SamplingFlags sampling;
  std::string prompt;
  bool json = false, stats = false, chat = false;
  int logprobs = -1;
};

Json logprob_json(const Tokenizer& tokenizer, const TokenLogprob& entry) {
  Json json;
  json.set("id", entry.id);
  json.set("token", std::string(tokenizer.token(entry.id).value_or("")));
  json.set("logprob", double(entry.logprob));
  return json;
}

std::string stats_line(const Engine& engine, const Generation& result) {
  const double decoded = double(result.ids.size()) - 1;
  return fmt::format(
      "\n[{} on {}: {} prompt tokens in {:.3f} s ({:.1f} tok/s), {} generated at {:.1f} tok/s, "
      "ended by {}; loaded in {:.2f} s, pipelines: {}]\n",
      backend_name(engine.device().backend), engine.device().name, result.prompt_tokens,
      result.prefill_seconds, double(result.prompt_tokens) / result.prefill_seconds,
      result.ids.size(), result.decode_seconds > 0 ? decoded / result.decode_seconds : 0.0,
      finish_name(result.finish), engine.load_times().total_seconds,
      pipelines_text(engine.compile_report()));
}

Result<void> run(const RunFlags& flags) {
  std::string prompt = flags.prompt;
  if (prompt == "-") {
    TOK_TRY(prompt, read_stdin());
  }
  catch_interrupts();
  TOK_TRY(const std::unique_ptr<Engine> engine, flags.model.open());
  TOK_TRY(const Tokenizer* tokenizer, engine->tokenizer());
  TOK_TRY(GenerationParams params, flags.sampling.params(engine->defaults()));
  params.logprobs = flags.logprobs >= 0;
  params.top_logprobs = uint32_t(std::max(flags.logprobs, 0));
  Json::Array logprob_list;
  Result<void> printed;
  GenerationCallbacks callbacks;
  callbacks.cancelled = [&] { return interrupted() || !printed; };
  callbacks.text = [&](std::string_view text) {
    if (!flags.json && printed) printed = print(text);
  };
  callbacks.token = [&](uint32_t, const Logprobs* logprobs) {
    if (logprobs == nullptr) return;
    Json entry = logprob_json(*tokenizer, logprobs->chosen);
    Json::Array top;
    for (const TokenLogprob& one : logprobs->top) top.push_back(logprob_json(*tokenizer, one));
    entry.set("top", std::move(top));
    logprob_list.push_back(std::move(entry));
  };
  Result<Generation> result = [&]() -> Result<Generation> {
    if (!flags.chat) {
      if (!flags.json) TOK_TRY(print(prompt));
      return engine->generate(prompt, params, callbacks);
    }
    Json message, variables;
    message.set("role", "user").set("content", prompt);
    variables.set("messages", Json::Array{message}).set("add_generation_prompt", true);
    TOK_TRY(const std::string rendered, engine->render_chat(variables));
    return engine->generate_rendered(rendered, params, callbacks);
  }();
  if (!result) {
    if (!flags.json && !flags.chat) TOK_TRY(print("\n"));  // ends the line of the prompt
    return Failure(result.error().within(engine->files().name));
  }
  TOK_TRY(printed);
  if (flags.json) {
    Json out;
    out.set("prompt", prompt).set("text", result->text).set("tokens", to_json(result->ids));
    out.set("finish", std::string(finish_name(result->finish)));
    out.set("seed", result->seed);
    if (params.logprobs) out.set("logprobs", std::move(logprob_list));
    TOK_TRY(print(out.dump() + "\n"));
  } else {
    TOK_TRY(print("\n"));
  }
  if (flags.stats || stderr_is_terminal()) note(stats_line(*engine, *result));
  // What there is has been printed; only the exit status says that it is not all.
  if (result->finish == FinishReason::kCancelled)
    return fail(ErrorCode::kCancelled, "Interrupted.");
  return {};
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "continue a text");
  command->footer(R"(Examples:
  tokamak run -p "Once upon a time"
  tokamak run path/to/model -p "The sea" -n 200 --temp 0.7 --top-p 0.9 --seed 1
  tokamak run path/to/model -p "A list:" --stop "The end" --stop "THE END"
  tokamak run path/to/model -p "The sea" --quantize q4    weights in 4 bits
  tokamak run path/to/model -p "Yes or no? " --grammar 'root ::= "yes" | "no"'
  echo "Dear diary," | tokamak run path/to/model -p - --json)");
  auto flags = std::make_shared<RunFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  command->add_option("-p,--prompt", flags->prompt, "the text to continue; - reads standard input")
      ->required();
  command->add_flag("--chat", flags->chat, "put the prompt through the model's chat template");
  flags->sampling.add(*command);
  CLI::Option* json =
      command->add_flag("--json", flags->json, "one JSON object instead of streamed text");
  command
      ->add_option("--logprobs", flags->logprobs,
                   "with --json: log-probability of each token and of the N best others")
      ->needs(json)
      ->check(CLI::Range(0, 100));
  command->add_flag("-v,--stats", flags->stats, "speed on standard error, also into a pipe");
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace tokamak::cli
