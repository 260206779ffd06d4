#include <charconv>
#include <chrono>

#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

std::string without_period(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// Whether no text but "" is what the grammar describes: no byte can be reached from its root.
bool is_empty(const Grammar& grammar) {
  using Kind = Grammar::State::Kind;
  const std::vector<Grammar::State>& states = grammar.states();
  std::vector<bool> seen(states.size());
  std::vector<uint32_t> next = {grammar.root()};
  while (!next.empty()) {
    const uint32_t at = next.back();
    next.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const Grammar::State& state = states[at];
    if (state.kind == Kind::kByte) return false;
    if (state.kind == Kind::kReturn) continue;
    next.push_back(state.next);
    next.push_back(state.other);
  }
  return true;
}

Result<std::shared_ptr<const Grammar>> read_grammar(const std::string& given) {
  std::string text = given;
  const bool is_file = given.starts_with('@');
  if (is_file) {
    TOK_TRY(text, read_text_file(given.substr(1), Grammar::kMaxTextBytes));
  }
  auto grammar = Grammar::parse(text);
  if (!grammar) {
    return Failure(is_file ? grammar.error().within(given.substr(1)) : grammar.error());
  }
  if (is_empty(*grammar)) {
    return invalid_input("root describes nothing but the empty text; an answer needs one token.");
  }
  return std::make_shared<const Grammar>(*std::move(grammar));
}

Result<std::shared_ptr<const Grammar>> read_schema(const std::string& path) {
  std::string text;
  if (path == "-") {
    TOK_TRY(text, read_stdin());
  } else {
    TOK_TRY(text, read_text_file(path, Grammar::kMaxTextBytes));
  }
  auto grammar = Grammar::from_json_schema(text);
  if (!grammar) return Failure(grammar.error().within(path));
  return std::make_shared<const Grammar>(*std::move(grammar));
}

Result<std::shared_ptr<const Grammar>> read_regex(const std::string& text) {
  TOK_TRY(Grammar grammar, Grammar::from_regex(text));
  if (is_empty(grammar)) {
    return invalid_input("it describes nothing but the empty text; an answer needs one token.");
  }
  return std::make_shared<const Grammar>(std::move(grammar));
}

}  // namespace

Validator sampling_range(double SamplingParams::* parameter, const char* expected) {
  return [parameter, expected](const std::string& text) {
    SamplingParams params;
    double& value = params.*parameter;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    const bool is_number = read.ec == std::errc() && read.ptr == end;
    return is_number && params.validate() ? "" : not_expected(text, expected);
  };
}

void SamplingFlags::add(App& command) {
  command_ = &command;
  command.add_option("-n,--max-tokens", max_tokens_, "most tokens to generate")
      ->capture_default_str();
  command.add_option("--stop", stop_, "end at this text, which is not shown (repeatable)")
      ->check(not_empty("a text"));
  // The grammar of an option whose text `read` understands.
  const auto held_to = [this](auto read) {
    return [this, read](const std::string& text) -> std::string {
      auto grammar = read(text);
      if (!grammar) return ": " + without_period(grammar.error().message);
      grammar_ = *std::move(grammar);
      return "";
    };
  };
  Option* grammar =
      command
          .add_option("--grammar", grammar_text_,
                      "generate only what this grammar in GBNF describes (docs/grammars.md); "
                      "@file reads a file")
          ->type_name("GBNF")
          ->check(not_empty("a grammar, or @file"))
          ->check(held_to(read_grammar));
  Option* schema =
      command
          .add_option("--json-schema", schema_path_,
                      "generate only JSON that satisfies the JSON schema in this file; "
                      "- is standard input")
          ->type_name("FILE|-")
          ->check(not_empty("the path of a file, or -"))
          ->check(held_to(read_schema))
          ->excludes(grammar);
  command
      .add_option("--regex", regex_,
                  "generate only what this regular expression describes as a whole")
      ->type_name("REGEX")
      ->check(not_empty("a regular expression"))
      ->check(held_to(read_regex))
      ->excludes(grammar)
      ->excludes(schema);
  const char* group = "Sampling options (default: as the model recommends)";
  command.add_flag("--greedy", greedy_, "always the most probable token")->group(group);
  command.add_option("--temp,--temperature", temperature_, "temperature; 0 is greedy")
      ->check(sampling_range(&SamplingParams::temperature, "a number from 0 to 1000000"))
      ->group(group);
  command.add_option("--top-k", top_k_, "only the k most probable; 0: all")->group(group);
  command.add_option("--top-p", top_p_, "only the most probable up to this sum")
      ->check(sampling_range(&SamplingParams::top_p, "a number above 0 and at most 1"))
      ->group(group);
  command.add_option("--min-p", min_p_, "only those above this share of the best")
      ->check(sampling_range(&SamplingParams::min_p, "a number from 0 to 1"))
      ->group(group);
  command.add_option("--typical,--typical-p", typical_p_, "locally typical sampling")
      ->check(sampling_range(&SamplingParams::typical_p, "a number above 0 and at most 1"))
      ->group(group);
  command
      .add_option("--repeat-penalty,--repetition-penalty", repetition_penalty_,
                  "above 1: less repetition")
      ->check(sampling_range(&SamplingParams::repetition_penalty, "a number from 0.01 to 100"))
      ->group(group);
  command.add_option("--seed", seed_, "same seed, same text; default: a new one each time")
      ->check(Range(int64_t{0}, INT64_MAX))  // as JSON shows it
      ->group(group);
}

Result<GenerationParams> SamplingFlags::params(const GenerationParams& defaults) const {
  TOK_TRY(Sampler::make(defaults.sampling));  // not the fault of an option
  GenerationParams params = defaults;
  SamplingParams& sampling = params.sampling;
  const auto given = [&](const char* name) { return command_->count(name) > 0; };
  params.max_tokens = max_tokens_;
  params.stop = stop_;
  params.grammar = grammar_;
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
  return params;
}

}  // namespace tokamak::cli
