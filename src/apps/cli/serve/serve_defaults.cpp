#include "apps/cli/serve/serve_defaults.h"

#include "apps/cli/chat/chat_template_choice.h"

namespace tokamak::cli {

void ServeDefaults::add(App& command) {
  constexpr const char* kGroup =
      "Requests that do not say themselves (default: as the model recommends)";
  command_ = &command;
  add_sampling_number(command, &SamplingParams::temperature, numbers_)->group(kGroup);
  command.add_option("--top-k", numbers_.top_k, "only the k most probable; 0: all")->group(kGroup);
  for (const auto number :
       {&SamplingParams::top_p, &SamplingParams::min_p, &SamplingParams::repetition_penalty}) {
    add_sampling_number(command, number, numbers_)->group(kGroup);
  }
  add_chat_template(command, chat_template_)->group(kGroup);
  command
      .add_option("--pooling", pooling_,
                  "mean, last or cls: the first MODEL, which has no modules.json, makes embeddings")
      ->type_name("KIND")
      ->check(one_of({"mean", "last", "cls"}))
      ->group(kGroup);
}

void ServeDefaults::change(SamplingParams& sampling) const {
  take_sampling_numbers(*command_, numbers_, sampling);
  if (command_->count("--top-k") > 0) sampling.top_k = numbers_.top_k;
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
