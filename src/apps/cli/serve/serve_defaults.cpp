#include "apps/cli/serve/serve_defaults.h"

#include "apps/cli/chat/chat_template_choice.h"

namespace tokamak::cli {

void ServeDefaults::add(App& command) {
  constexpr const char* kGroup =
      "Requests that do not say themselves (default: as the model recommends)";
  command_ = &command;
  command.add_option("--temp,--temperature", temperature_, "temperature; 0 is greedy")
      ->check(sampling_range(&SamplingParams::temperature, "a number from 0 to 1000000"))
      ->group(kGroup);
  command.add_option("--top-k", top_k_, "only the k most probable; 0: all")->group(kGroup);
  command.add_option("--top-p", top_p_, "only the most probable up to this sum")
      ->check(sampling_range(&SamplingParams::top_p, "a number above 0 and at most 1"))
      ->group(kGroup);
  command.add_option("--min-p", min_p_, "only those above this share of the best")
      ->check(sampling_range(&SamplingParams::min_p, "a number from 0 to 1"))
      ->group(kGroup);
  command
      .add_option("--repeat-penalty,--repetition-penalty", repetition_penalty_,
                  "above 1: less repetition")
      ->check(sampling_range(&SamplingParams::repetition_penalty, "a number from 0.01 to 100"))
      ->group(kGroup);
  add_chat_template(command, chat_template_)->group(kGroup);
  command
      .add_option("--pooling", pooling_,
                  "mean, last or cls: the first MODEL, which has no modules.json, makes embeddings")
      ->type_name("KIND")
      ->check(one_of({"mean", "last", "cls"}))
      ->group(kGroup);
}

void ServeDefaults::change(SamplingParams& sampling) const {
  const auto given = [&](const char* name) { return command_->count(name) > 0; };
  if (given("--temp")) sampling.temperature = temperature_;
  if (given("--top-k")) sampling.top_k = top_k_;
  if (given("--top-p")) sampling.top_p = top_p_;
  if (given("--min-p")) sampling.min_p = min_p_;
  if (given("--repetition-penalty")) sampling.repetition_penalty = repetition_penalty_;
}

Result<void> ServeDefaults::apply(std::vector<ServedModel>& models) const {
  OpenOptions& first = models.front().options;
  TOK_TRY(TemplateChoice choice, choose_template(chat_template_));
  if (!chat_template_.empty() && choice.jinja.empty()) {
    TOK_TRY(const std::string path, find_model(first.model));
    TOK_TRY(const ModelFiles files, read_model_files(path));
    TOK_TRY(find_own_template(chat_template_, files, choice));
  }
  for (ServedModel& model : models) {
    model.options.change_defaults = [this](GenerationParams& defaults,
                                           const Tokenizer&) -> Result<void> {
      change(defaults.sampling);
      return {};
    };
  }
  first.chat_template = choice.jinja;
  first.change_defaults = [this, choice](GenerationParams& defaults,
                                         const Tokenizer& tokenizer) -> Result<void> {
    change(defaults.sampling);
    return add_end(choice, tokenizer, defaults);
  };
  if (!pooling_.empty()) {
    first.pooling = pooling_;
    first.task = Task::kEmbeddings;
  }
  return {};
}

}  // namespace tokamak::cli
