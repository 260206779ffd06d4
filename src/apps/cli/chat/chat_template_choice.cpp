#include "apps/cli/chat/chat_template_choice.h"

#include "apps/cli/line/input.h"

namespace tokamak::cli {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{16} << 20;

struct KnownTemplate {
  std::string_view name, end, jinja;
};

/// For models that were trained on one of the common forms and come without a template.
constexpr KnownTemplate kKnown[] = {
    {"chatml", "<|im_end|>",
     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content "
     "}}<|im_end|>\n"
     "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"},
    {"gemma", "<end_of_turn>",
     "{{ bos_token }}{% set ns = namespace(system='') %}{% for message in messages %}"
     "{% if message.role == 'system' %}{% set ns.system = message.content + '\n\n' %}{% else %}"
     "<start_of_turn>{{ 'model' if message.role == 'assistant' else message.role }}\n"
     "{{ ns.system }}{{ message.content | trim }}<end_of_turn>\n"
     "{% set ns.system = '' %}{% endif %}{% endfor %}"
     "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"},
    {"llama3", "<|eot_id|>",
     "{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message.role }}"
     "<|end_header_id|>\n\n{{ message.content | trim }}<|eot_id|>{% endfor %}"
     "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"},
};

std::string known_names() {
  std::string names;
  for (const KnownTemplate& one : kKnown) names += fmt::format("{}, ", one.name);
  return names;
}

}  // namespace

Option* add_chat_template(App& command, std::string& flag) {
  return command
      .add_option("--chat-template", flag,
                  "chatml, gemma, llama3, the name of one of the model's own, or a file in Jinja; "
                  "default: the model's")
      ->check(not_empty("a name or a file"));
}

Result<TemplateChoice> choose_template(const std::string& flag) {
  for (const KnownTemplate& one : kKnown) {
    if (one.name == flag) return TemplateChoice{std::string(one.jinja), std::string(one.end)};
  }
  if (flag.empty() || !file_exists(flag) || is_directory(flag)) return TemplateChoice();
  TOK_TRY(std::string text, read_input(flag, kMaxFileBytes));
  if (text.empty()) return invalid_input("{}: The file is empty, expected a template.", flag);
  const auto parsed = ChatTemplate::parse(text, flag);
  if (!parsed) return Failure(parsed.error());
  return TemplateChoice{std::move(text), ""};
}

Result<void> find_own_template(const std::string& flag, const ModelFiles& files,
                               TemplateChoice& choice) {
  if (!choice.jinja.empty()) return {};
  if (flag.empty()) {
    const auto own = chat_template_named(files, "default");
    if (own) return {};
    return invalid_input(
        "{} A base model is for `tokamak run` without --chat; --chat-template NAME|FILE gives a "
        "template: {}or a file in Jinja.",
        own.error().message, known_names());
  }
  auto own = chat_template_named(files, flag);
  if (!own) {
    return fail(ErrorCode::kUsage,
                "--chat-template is \"{}\", which is neither a file nor one of {}and: {}", flag,
                known_names(), own.error().message);
  }
  choice.jinja = *std::move(own);
  return {};
}

Result<void> add_end(const TemplateChoice& choice, const Tokenizer& tokenizer,
                     GenerationParams& params) {
  if (choice.end.empty()) return {};
  TOK_TRY(const std::vector<uint32_t> ids,
          tokenizer.encode(choice.end, {.add_special = false, .parse_special = true}));
  if (ids.size() == 1) {
    if (!params.end_ids) params.end_ids.emplace();
    params.end_ids->push_back(ids[0]);
  } else {
    params.stop.push_back(choice.end);  // a model that spells it out
  }
  return {};
}

}  // namespace tokamak::cli
