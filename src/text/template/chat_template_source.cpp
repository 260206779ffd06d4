// Which chat template a model's folder means, and the special tokens its templates print.
#include <algorithm>
#include <set>

#include "text/template/chat_template.h"
#include "text/template/role_tokens.h"

namespace tokamak {
namespace {

using Named = ChatTemplateSource::Named;

/// "chat_template" is a text, a list of {"name", "template"}, or an object from names to texts.
Result<std::vector<Named>> templates_in(const Json& config) {
  std::vector<Named> templates;
  const Json* given = config.find("chat_template");
  if (given == nullptr || given->is_null()) return templates;
  if (given->is_string()) {
    templates.push_back({"default", given->as_string()});
    return templates;
  }
  if (given->is_object()) {
    for (const auto& [name, source] : given->as_object()) {
      if (!source.is_string()) {
        return invalid_input("\"chat_template.{}\" is {} where a string is expected.", name,
                             kind_name(source.kind()));
      }
      templates.push_back({name, source.as_string()});
    }
    return templates;
  }
  if (!given->is_array()) {
    return invalid_input(
        "\"chat_template\" is {} where a string, an array or an object is expected.",
        kind_name(given->kind()));
  }
  std::set<std::string_view> names;
  for (size_t i = 0; i < given->as_array().size(); ++i) {
    const Json& one = given->as_array()[i];
    const Json* name = one.find("name");
    const Json* source = one.find("template");
    if (name == nullptr || !name->is_string() || source == nullptr || !source->is_string()) {
      return invalid_input("\"chat_template[{}]\" needs \"name\" and \"template\" as strings.", i);
    }
    if (!names.insert(name->as_string()).second) {
      return invalid_input("Two chat templates are named \"{}\".", name->as_string());
    }
    templates.push_back({name->as_string(), source->as_string()});
  }
  return templates;
}

Json special_tokens_in(const Json& config) {
  Json tokens(Json::Object{});
  for (auto& [name, text] : read_role_tokens(config)) tokens.set(std::move(name), std::move(text));
  return tokens;
}

}  // namespace

Result<ChatTemplateSource> read_chat_templates(const TokenizerFiles& files,
                                               std::optional<std::string_view> jinja_file,
                                               const std::vector<Named>& additional) {
  TOK_TRY(const Json config, read_tokenizer_config(files));
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
  Json::Object missing;
  for (const auto& [name, token] : source.special_tokens.as_object()) {
    if (variables.find(name) == nullptr) missing.emplace_back(name, token);
  }
  for (auto& [name, token] : missing) variables.set(std::move(name), std::move(token));
  return variables;
}

}  // namespace tokamak
