#include <algorithm>
#include <charconv>
#include <chrono>

#include "apps/cli/command.h"
#include "generate/sample/sampling_numbers.h"

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
    TOK_TRY(text, read_input(given.substr(1), Grammar::kMaxTextBytes));
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
  TOK_TRY(const std::string text, read_input(path, Grammar::kMaxTextBytes));
  auto grammar = Grammar::from_json_schema(text);
  if (!grammar) return Failure(grammar.error().within(path == "-" ? "standard input" : path));
  return std::make_shared<const Grammar>(*std::move(grammar));
}

Result<std::shared_ptr<const Grammar>> read_regex(const std::string& text) {
  TOK_TRY(Grammar grammar, Grammar::from_regex(text));
  if (is_empty(grammar)) {
    return invalid_input("it describes nothing but the empty text; an answer needs one token.");
  }
  return std::make_shared<const Grammar>(std::move(grammar));
}

struct NumberFlag {
  double SamplingParams::* member;
  const char *names, *description;
};

constexpr NumberFlag kNumberFlags[] = {
    {&SamplingParams::temperature, "--temp,--temperature", "temperature; 0 is greedy"},
    {&SamplingParams::top_p, "--top-p", "only the most probable up to this sum"},
    {&SamplingParams::min_p, "--min-p", "only those above this share of the best"},
    {&SamplingParams::typical_p, "--typical,--typical-p", "locally typical sampling"},
    {&SamplingParams::repetition_penalty, "--repeat-penalty,--repetition-penalty",
     "above 1: less repetition"},
    {&SamplingParams::presence_penalty, "--presence-penalty",
     "above 0: tokens that were generated become less likely"},
    {&SamplingParams::frequency_penalty, "--frequency-penalty",
     "the same, for every time that they were"},
};

/// "ID=BIAS"; nothing for other texts.
std::optional<std::pair<uint32_t, float>> bias_of(const std::string& text) {
  std::pair<uint32_t, float> bias;
  const char* end = text.data() + text.size();
  const auto id = std::from_chars(text.data(), end, bias.first);
  if (id.ec != std::errc() || id.ptr == end || *id.ptr != '=') return std::nullopt;
  const auto value = std::from_chars(id.ptr + 1, end, bias.second);
  const bool is_whole = value.ec == std::errc() && value.ptr == end;
  return is_whole && bias.second >= -100 && bias.second <= 100 ? std::optional(bias) : std::nullopt;
}

}  // namespace

Option* add_sampling_number(App& command, double SamplingParams::* number, SamplingParams& params) {
  const auto* flag = std::ranges::find(kNumberFlags, number, &NumberFlag::member);
  return command.add_option(flag->names, params.*number, flag->description)
      ->check([&row = sampling_number(number)](const std::string& text) {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        const bool is_number = read.ec == std::errc() && read.ptr == end;
        return is_number && row.takes(value) ? "" : not_expected(text, "a number " + row.range());
      });
}

void take_sampling_numbers(const App& command, const SamplingParams& params,
                           SamplingParams& sampling) {
  for (const NumberFlag& flag : kNumberFlags) {
    const std::string_view names = flag.names;
    const Option* option = command.find(names.substr(0, names.find(',')));
    if (option != nullptr && option->count() > 0) sampling.*flag.member = params.*flag.member;
  }
}

void SamplingFlags::add(App& command) {
  command_ = &command;
  add_limits(command);
  add_forms(command);
  add_sampling(command);
}

void SamplingFlags::add_limits(App& command) {
  command
      .add_option("-n,--max-tokens", max_tokens_,
                  "most tokens to generate; -1: up to the end, or as many as the context has room "
                  "for")
      ->check(in_range(-1, INT32_MAX))
      ->capture_default_str();
  command.add_option("--stop", stop_, "end at this text, which is not shown (repeatable)")
      ->check(not_empty("a text"));
  command.add_flag("--ignore-eos", ignore_eos_, "go on where the model would end");
}

void SamplingFlags::add_forms(App& command) {
  // The grammar of an option whose text `read` understands. Faults of files are no wrong usage.
  const auto held_to = [this](auto read, bool (*is_file)(const std::string&)) {
    return [this, read, is_file](const std::string& text) -> Mistake {
      auto grammar = read(text);
      if (!grammar && is_file(text)) return {": " + grammar.error().message, grammar.error().code};
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
          ->check(
              held_to(read_grammar, [](const std::string& text) { return text.starts_with('@'); }));
  Option* schema =
      command
          .add_option("--json-schema", schema_path_,
                      "generate only JSON that satisfies the JSON schema in this file; "
                      "- is standard input")
          ->type_name("FILE|-")
          ->check(not_empty("the path of a file, or -"))
          ->check(held_to(read_schema, [](const std::string&) { return true; }))
          ->excludes(grammar);
  command
      .add_option("--regex", regex_,
                  "generate only what this regular expression describes as a whole")
      ->type_name("REGEX")
      ->check(not_empty("a regular expression"))
      ->check(held_to(read_regex, [](const std::string&) { return false; }))
      ->excludes(grammar)
      ->excludes(schema);
}

void SamplingFlags::add_sampling(App& command) {
  const char* group = "Sampling options (default: as the model recommends)";
  Option* greedy =
      command.add_flag("--greedy", greedy_, "always the most probable token")->group(group);
  const auto add = [&](double SamplingParams::* number) {
    return add_sampling_number(command, number, numbers_)->group(group);
  };
  add(&SamplingParams::temperature)->excludes(greedy);
  command.add_option("--top-k", numbers_.top_k, "only the k most probable; 0: all")
      ->excludes(greedy)
      ->group(group);
  add(&SamplingParams::top_p)->excludes(greedy);
  add(&SamplingParams::min_p)->excludes(greedy);
  add(&SamplingParams::typical_p)->excludes(greedy);
  add(&SamplingParams::repetition_penalty);
  add(&SamplingParams::presence_penalty);
  add(&SamplingParams::frequency_penalty);
  command
      .add_option("--logit-bias", biases_,
                  "what is added to the logit of a token, from -100, which bans it, to 100 "
                  "(repeatable); `tokamak tokenize` knows the ids")
      ->type_name("ID=BIAS")
      ->check([](const std::string& text) {
        return bias_of(text) ? "" : not_expected(text, "ID=BIAS with a bias from -100 to 100");
      })
      ->group(group);
  command.add_option("--seed", seed_, "same seed, same text; default: a new one each time")
      ->check(in_range(int64_t{0}, INT64_MAX))  // as JSON shows it
      ->group(group);
}

Result<GenerationParams> SamplingFlags::params(const GenerationParams& defaults) const {
  TOK_TRY(Sampler::make(defaults.sampling));  // not the fault of an option
  GenerationParams params = defaults;
  SamplingParams& sampling = params.sampling;
  const auto given = [&](const char* name) { return command_->count(name) > 0; };
  params.max_tokens = max_tokens_ < 0 ? kAllTokens : uint32_t(max_tokens_);
  params.stop = stop_;
  params.grammar = grammar_;
  take_sampling_numbers(*command_, numbers_, sampling);
  if (given("--top-k")) sampling.top_k = numbers_.top_k;
  if (greedy_) sampling.temperature = 0;
  for (const std::string& text : biases_) sampling.logit_bias.push_back(*bias_of(text));
  if (ignore_eos_) {
    sampling.min_tokens = params.max_tokens;
    sampling.late_ids = params.end_ids.value_or(std::vector<uint32_t>());
  }
  sampling.seed = given("--seed")
                      ? seed_
                      : uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
  return params;
}

}  // namespace tokamak::cli
