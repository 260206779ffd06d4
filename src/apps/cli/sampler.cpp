#include <algorithm>
#include <cmath>

#include "apps/cli/command.h"
#include "generate/sample/sampling_numbers.h"

namespace tokamak::cli {
namespace {

Result<std::vector<float>> read_logits(const Json& input) {
  const Json* list = input.find("logits");
  if (list == nullptr || !list->is_array())
    return invalid_input("logits: expected a list of numbers.");
  std::vector<float> logits;
  for (const Json& item : list->as_array()) {
    if (!item.is_number() || std::isnan(item.as_number())) {
      return invalid_input("logits: found {}, expected a number.", item.dump());
    }
    logits.push_back(float(item.as_number()));
  }
  return logits;
}

Result<SamplingParams> read_params(const Json& input) {
  SamplingParams params;
  const auto rows = sampling_numbers().first(5);  // the others need a text
  static const Json kNone{Json::Object{}};
  const Json* given = input.find("params");
  ConfigReader reader(given == nullptr ? kNone : *given, "params");
  TOK_TRY(reader.status());
  for (const auto& [name, value] : (given == nullptr ? kNone : *given).as_object()) {
    if (!value.is_number() || !std::isfinite(value.as_number()))
      return invalid_input("params: {}: expected a number.", name);
    const double number = value.as_number();
    const auto row = std::ranges::find(rows, name, &SamplingNumber::name);
    if (row != rows.end())
      params.*row->member = number;
    else if (name == "top_k" && value.is_integer() && number >= 0 && number <= INT32_MAX)
      params.top_k = uint32_t(number);
    else
      return invalid_input("params: {} = {} is not a sampling parameter.", name, value.dump());
  }
  return params;
}

Result<std::string> answer(std::string_view line) {
  TOK_TRY(const Json input, Json::parse(line));
  if (!input.is_object()) return invalid_input("expected an object with logits.");
  TOK_TRY(const std::vector<float> logits, read_logits(input));
  TOK_TRY(const SamplingParams params, read_params(input));
  ConfigReader reader(input, "input");
  const std::vector<uint32_t> previous = input.find("previous_ids") != nullptr &&
                                                 input.find("previous_ids")->is_array() &&
                                                 input.find("previous_ids")->as_array().empty()
                                             ? std::vector<uint32_t>{}
                                             : reader.ids("previous_ids");
  TOK_TRY(reader.status());
  TOK_TRY(const Candidates candidates, sample_distribution(logits, previous, params));
  Json out;
  out.set("survivors", to_json(candidates.ids)).set("probs", to_json(candidates.probs));
  return out.dump();
}

Result<void> run_sampler() {
  TOK_TRY(InputLines lines, InputLines::open("-"));
  for (;;) {
    TOK_TRY(const std::optional<std::string> line, lines.next());
    if (!line) return {};
    if (line->empty()) continue;
    auto out = answer(*line);
    if (!out) return Failure(out.error().within(lines.where()));
    TOK_TRY(print(*out + "\n"));
  }
}

}  // namespace

void add_sampler(App& app, Action& action) {
  App* command =
      app.add_subcommand("sampler", "which tokens survive the sampling rules, for checking");
  command->group(kCheckingCommands);
  command->footer(R"(Reads one JSON object per line and prints {"survivors": [...], "probs": [...]}.
Example:
  echo '{"logits": [1.0, 3.0, 2.0], "previous_ids": [], "params": {"top_k": 2}}' | tokamak sampler)");
  command->callback([&action] { action = run_sampler; });
}

}  // namespace tokamak::cli
