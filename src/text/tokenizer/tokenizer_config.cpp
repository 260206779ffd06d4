#include "text/tokenizer/tokenizer_config.h"

#include <algorithm>

namespace tokamak {
namespace {

/// `own` and those of `more` that it does not have.
Json joined(const Json& own, const Json& more) {
  Json::Array tokens = own.as_array();
  for (const Json& token : more.as_array()) {
    if (std::ranges::find(tokens, token) == tokens.end()) tokens.push_back(token);
  }
  return tokens;
}

}  // namespace

Result<Json> read_object(std::string_view file, std::string_view text) {
  if (text.empty()) return Json(Json::Object{});
  return parse_object(file, text);
}

Result<Json> parse_object(std::string_view file, std::string_view text) {
  auto json = Json::parse(text);
  if (!json) return Failure(json.error().within(file));
  if (!json->is_object()) {
    return invalid_input("{}: The file is {}; an object is expected.", file,
                         kind_name(json->kind()));
  }
  return json;
}

Result<Json> read_tokenizer_config(const TokenizerFiles& files) {
  TOK_TRY(Json config, read_object("tokenizer_config.json", files.config));
  if (config.find("added_tokens_decoder") != nullptr) return config;
  TOK_TRY(const Json map, read_object("special_tokens_map.json", files.special_tokens));
  for (const auto& [name, value] : map.as_object()) {
    const Json* own = config.find(name);
    const bool both_are_lists = own != nullptr && own->is_array() && value.is_array();
    config.set(name, both_are_lists ? joined(*own, value) : value);
  }
  return config;
}

}  // namespace tokamak
