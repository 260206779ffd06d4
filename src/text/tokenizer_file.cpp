// tokenizer.json and tokenizer_config.json to TokenizerParts.
#include <algorithm>
#include <charconv>

#include "text/json_fields.h"
#include "text/tokenizer_parts.h"

namespace tokamak {
namespace {

/// Runs `read` on the member `name` of the file, null when it is absent; errors name the member.
template <typename Read>
auto read_member(const Json& file, std::string_view name, Read read) {
  static const Json kNull;
  const Json* member = file.find(name);
  auto result = read(member == nullptr ? kNull : *member);
  if (!result) result = std::unexpected(result.error().within(name));
  return result;
}

Result<Json> parse_object(std::string_view text) {
  TOK_TRY(Json json, Json::parse(text));
  if (!json.is_object()) {
    return invalid_input("The file is {}; an object is expected.", kind_name(json.kind()));
  }
  return json;
}

Result<std::vector<AddedToken>> read_added_tokens(const Json& json, const Vocabulary& vocabulary) {
  std::vector<AddedToken> tokens;
  if (json.is_null()) return tokens;
  if (!json.is_array()) {
    return invalid_input("The value is {}; an array is expected.", kind_name(json.kind()));
  }
  const size_t id_limit = vocabulary.size() + json.as_array().size() + Vocabulary::kMaxHoles;
  for (const Json& item : json.as_array()) {
    TOK_TRY(AddedToken token, read_added_token(item));
    if (token.id >= id_limit) {
      return invalid_input("Token \"{}\" has id {}, far beyond the {} ids of the vocabulary.",
                           token.content, token.id, vocabulary.size());
    }
    const auto known = vocabulary.find(token.content);
    if (known && *known != token.id) {
      return invalid_input("Token \"{}\" has id {}, but the vocabulary has it as {}.",
                           token.content, token.id, *known);
    }
    if (!known && vocabulary.has(token.id)) {
      return invalid_input("The tokens \"{}\" and \"{}\" both have id {}.",
                           vocabulary.token(token.id), token.content, token.id);
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// Tokens of "added_tokens_decoder" that tokenizer.json does not know at all.
Result<void> add_config_tokens(const Json& json, const Vocabulary& vocabulary,
                               std::vector<AddedToken>& tokens) {
  if (json.is_null()) return {};
  if (!json.is_object()) {
    return invalid_input("The value is {}; an object is expected.", kind_name(json.kind()));
  }
  const size_t id_limit = vocabulary.size() + tokens.size() + json.as_object().size();
  std::vector<AddedToken> known = tokens;
  const auto by_id = [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; };
  std::sort(known.begin(), known.end(), by_id);
  for (const auto& [name, item] : json.as_object()) {
    uint32_t id = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) {
      return invalid_input("\"{}\" is not an id.", name);
    }
    TOK_TRY(AddedToken token, read_added_token(item, id));
    if (vocabulary.has(id) || vocabulary.find(token.content) ||
        id >= id_limit + Vocabulary::kMaxHoles ||
        std::binary_search(known.begin(), known.end(), token, by_id)) {
      continue;
    }
    const auto same_content = [&](const AddedToken& t) { return t.content == token.content; };
    if (std::any_of(known.begin(), known.end(), same_content)) continue;
    tokens.push_back(std::move(token));
  }
  return {};
}

/// Members that end in "_token" and are a string or an object with "content".
void read_roles(const Json& config, std::vector<std::pair<std::string, std::string>>& roles) {
  for (const auto& [name, value] : config.as_object()) {
    if (!name.ends_with("_token")) continue;
    const Json* content = value.is_object() ? value.find("content") : &value;
    if (content != nullptr && content->is_string()) roles.emplace_back(name, content->as_string());
  }
}

Result<TokenizerParts> read_parts(const Json& file, const ModelTables* tables, const Json& config) {
  TokenizerParts parts;
  TOK_TRY(parts.model, read_member(file, "model", [&](const Json& json) {
            return read_token_model(json, tables);
          }));
  TOK_TRY(parts.normalizer, read_member(file, "normalizer", Normalizer::from_json));
  TOK_TRY(parts.pre_tokenizer, read_member(file, "pre_tokenizer", PreTokenizer::from_json));
  TOK_TRY(parts.decoder, read_member(file, "decoder", Decoder::from_json));
  const Vocabulary& vocabulary = parts.model->vocabulary();
  TOK_TRY(auto tokens, read_member(file, "added_tokens", [&](const Json& json) {
            return read_added_tokens(json, vocabulary);
          }));
  TOK_TRY(read_member(config, "added_tokens_decoder", [&](const Json& json) {
    return add_config_tokens(json, vocabulary, tokens);
  }));
  TOK_TRY(parts.added, AddedTokens::build(std::move(tokens), parts.normalizer));
  const auto has_token = [&](uint32_t id) { return parts.has_token(id); };
  TOK_TRY(parts.post_processor, read_member(file, "post_processor", [&](const Json& json) {
            return PostProcessor::from_json(json, has_token);
          }));
  read_roles(config, parts.roles);
  return parts;
}

}  // namespace

Result<TokenizerParts> read_tokenizer_parts(std::string_view tokenizer_json,
                                            std::string_view config_json) {
  Json config = Json::Object{};
  if (!config_json.empty()) {
    auto parsed = parse_object(config_json);
    if (!parsed) return std::unexpected(parsed.error().within("tokenizer_config.json"));
    config = *std::move(parsed);
  }
  Result<TokenizerParts> parts;
  if (const auto document = split_model_tables(tokenizer_json)) {
    parts = read_parts(document->rest, &document->tables, config);
  } else {
    auto file = parse_object(tokenizer_json);
    if (!file) return std::unexpected(file.error().within("tokenizer.json"));
    parts = read_parts(*file, nullptr, config);
  }
  if (!parts) return std::unexpected(parts.error().within("tokenizer.json"));
  return parts;
}

}  // namespace tokamak
