// Which chat template a model's folder means, and the special tokens its templates print.
#include <algorithm>

#include "text/chat_template.h"

namespace tokamak {
namespace {

using Named = ChatTemplateSource::Named;

Result<void> add(std::vector<Named>& templates, Named added) {
  if (std::ranges::find(templates, added.name, &Named::name) != templates.end()) {
    return invalid_input("Two chat templates are named \"{}\".", added.name);
  }
  templates.push_back(std::move(added));
  return {};
}

/// "chat_template" is a text, or a list of {"name", "template"}.
Result<std::vector<Named>> templates_in(const Json& config) {
  std::vector<Named> templates;
  const Json* given = config.find("chat_template");
  if (given == nullptr || given->is_null()) return templates;
  if (given->is_string()) {
    templates.push_back({"default", given->as_string()});
    return templates;
  }
  if (!given->is_array()) {
    return invalid_input("\"chat_template\" is {} where a string or an array is expected.",
                         kind_name(given->kind()));
  }
  for (size_t i = 0; i < given->as_array().size(); ++i) {
    const Json& one = given->as_array()[i];
    const Json* name = one.find("name");
    const Json* source = one.find("template");
    if (name == nullptr || !name->is_string() || source == nullptr || !source->is_string()) {
      return invalid_input("\"chat_template[{}]\" needs \"name\" and \"template\" as strings.", i);
    }
    TOK_TRY(add(templates, {name->as_string(), source->as_string()}));
  }
  return templates;
}

/// Every member called "..._token" that is a text or an object with the text as "content".
Json special_tokens_in(const Json& config) {
  Json tokens(Json::Object{});
  if (!config.is_object()) return tokens;
  for (const auto& [name, value] : config.as_object()) {
    if (!name.ends_with("_token") || tokens.find(name) != nullptr) continue;
    const Json* text = value.is_object() ? value.find("content") : &value;
    if (text != nullptr && text->is_string()) tokens.set(name, *text);
  }
  return tokens;
}

}  // namespace

Result<ChatTemplateSource> read_chat_templates(std::string_view tokenizer_config,
                                               std::optional<std::string_view> jinja_file,
                                               const std::vector<Named>& additional) {
  Json config(Json::Object{});
  if (!tokenizer_config.empty()) {
    auto parsed = Json::parse(tokenizer_config);
    if (!parsed) return std::unexpected(parsed.error().within("tokenizer_config.json"));
    config = *std::move(parsed);
  }
  auto templates = templates_in(config);
  if (!templates) return std::unexpected(templates.error().within("tokenizer_config.json"));
  ChatTemplateSource source{*std::move(templates), special_tokens_in(config)};
  if (jinja_file) {  // the newer place: it replaces all that the config has
    source.templates.clear();
    source.templates.push_back({"default", std::string(*jinja_file)});
  }
  for (const Named& one : additional) {
    std::erase_if(source.templates, [&](const Named& old) { return old.name == one.name; });
    source.templates.push_back(one);
  }
  return source;
}

Result<const ChatTemplateSource::Named*> ChatTemplateSource::choose(bool has_tools) const {
  const auto find = [&](std::string_view name) {
    const auto found = std::ranges::find(templates, name, &Named::name);
    return found == templates.end() ? nullptr : &*found;
  };
  if (has_tools) {
    if (const Named* with_tools = find("tool_use")) return with_tools;
  }
  if (const Named* plain = find("default")) return plain;
  if (templates.empty()) return invalid_input("The model has no chat template.");
  std::string names;
  for (const Named& one : templates) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", one.name);
  }
  return invalid_input("The model has no chat template named \"default\", but {}.", names);
}

Json with_special_tokens(Json variables, const ChatTemplateSource& source) {
  if (!source.special_tokens.is_object()) return variables;
  for (const auto& [name, token] : source.special_tokens.as_object()) {
    if (variables.find(name) == nullptr) variables.set(name, token);
  }
  return variables;
}

}  // namespace tokamak
