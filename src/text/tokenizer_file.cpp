// tokenizer.json and tokenizer_config.json to TokenizerParts.
#include <charconv>
#include <map>
#include <set>

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

/// The added tokens read so far, found by what they spell: in order, so that no choice of tokens
/// makes the search long.
class AddedTokenList {
 public:
  explicit AddedTokenList(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  /// Null when no token is spelled so.
  AddedToken* find(const std::string& content) {
    const auto found = places_.find(content);
    return found == places_.end() ? nullptr : &tokens_[found->second];
  }

  /// REQUIRES: !find(token.content).
  void add(AddedToken token) {
    ids_.insert(token.id);
    places_.emplace(token.content, tokens_.size());
    tokens_.push_back(std::move(token));
  }

  bool has(uint32_t id) const { return vocabulary_.has(id) || ids_.contains(id); }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  size_t size() const { return tokens_.size(); }
  std::vector<AddedToken> take() { return std::move(tokens_); }

 private:
  const Vocabulary& vocabulary_;
  std::vector<AddedToken> tokens_;
  std::map<std::string, size_t> places_;
  std::set<uint32_t> ids_;
};

/// As in the reference, a token that the vocabulary has keeps the id it has there, and one that is
/// listed twice its first.
Result<void> read_added_tokens(const Json& json, AddedTokenList& tokens) {
  if (json.is_null()) return {};
  if (!json.is_array()) {
    return invalid_input("The value is {}; an array is expected.", kind_name(json.kind()));
  }
  const Vocabulary& vocabulary = tokens.vocabulary();
  const size_t id_limit = vocabulary.size() + json.as_array().size() + Vocabulary::kMaxHoles;
  for (const Json& item : json.as_array()) {
    TOK_TRY(AddedToken token, read_added_token(item));
    if (AddedToken* known = tokens.find(token.content)) {
      token.id = known->id;
      *known = std::move(token);
      continue;
    }
    if (const auto id = vocabulary.find(token.content)) {
      token.id = *id;
    } else if (vocabulary.has(token.id)) {
      return invalid_input("The tokens \"{}\" and \"{}\" both have id {}.",
                           vocabulary.token(token.id), token.content, token.id);
    }
    if (token.id >= id_limit) {
      return invalid_input("Token \"{}\" has id {}, far beyond the {} ids of the vocabulary.",
                           token.content, token.id, vocabulary.size());
    }
    tokens.add(std::move(token));
  }
  return {};
}

/// Adds the tokens of "added_tokens_decoder" to those of tokenizer.json as transformers does: how
/// a token matches is what the config says, and what is special anywhere is special.
Result<void> add_config_tokens(const Json& json, AddedTokenList& tokens) {
  if (json.is_null()) return {};
  if (!json.is_object()) {
    return invalid_input("The value is {}; an object is expected.", kind_name(json.kind()));
  }
  const Vocabulary& vocabulary = tokens.vocabulary();
  const size_t id_limit =
      vocabulary.size() + tokens.size() + json.as_object().size() + Vocabulary::kMaxHoles;
  for (const auto& [name, item] : json.as_object()) {
    uint32_t id = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) {
      return invalid_input("\"{}\" is not an id.", name);
    }
    TOK_TRY(AddedToken token, read_added_token(item, id));
    if (AddedToken* known = tokens.find(token.content)) {
      known->single_word = token.single_word;
      known->lstrip = token.lstrip;
      known->rstrip = token.rstrip;
      if (!known->special) known->normalized = known->normalized && token.normalized;
      known->special = known->special || token.special;
    } else if (const auto own = vocabulary.find(token.content)) {
      token.id = *own;
      tokens.add(std::move(token));
    } else if (!tokens.has(id) && id < id_limit) {
      tokens.add(std::move(token));
    }
  }
  return {};
}

/// Makes a token special that has a role. One that is nowhere else stays text: transformers gives
/// it an id behind all others, for which models have no row.
Result<void> add_role_token(const Json& role, AddedTokenList& tokens) {
  const Json* text = token_text(role);
  if (text == nullptr) return {};
  if (AddedToken* known = tokens.find(text->as_string())) {
    known->special = true;
    return {};
  }
  const auto id = tokens.vocabulary().find(text->as_string());
  if (!id) return {};
  AddedToken token;
  if (role.is_object()) {
    TOK_TRY(token, read_added_token(role, id));
  } else {
    token.id = *id;
    token.content = text->as_string();
  }
  token.special = true;
  tokens.add(std::move(token));
  return {};
}

Result<void> add_role_tokens(const Json& config, AddedTokenList& tokens) {
  for (const char* name : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                           "cls_token", "mask_token"}) {
    const Json* role = config.find(name);
    if (role != nullptr) TOK_TRY(add_role_token(*role, tokens));
  }
  const Json* more = config.find("additional_special_tokens");
  if (more == nullptr || !more->is_array()) return {};
  for (const Json& role : more->as_array()) TOK_TRY(add_role_token(role, tokens));
  return {};
}

Result<TokenizerParts> read_parts(const Json& file, const ModelTables* tables, const Json& config) {
  TokenizerParts parts;
  const ModelSurroundings around{tables, file.find("added_tokens")};
  TOK_TRY(parts.model, read_member(file, "model", [&](const Json& json) {
            return read_token_model(json, around);
          }));
  TOK_TRY(parts.normalizer, read_member(file, "normalizer", Normalizer::from_json));
  TOK_TRY(parts.pre_tokenizer, read_member(file, "pre_tokenizer", PreTokenizer::from_json));
  TOK_TRY(parts.decoder, read_member(file, "decoder", Decoder::from_json));
  AddedTokenList tokens(parts.model->vocabulary());
  TOK_TRY(read_member(file, "added_tokens",
                      [&](const Json& json) { return read_added_tokens(json, tokens); }));
  TOK_TRY(read_member(config, "added_tokens_decoder",
                      [&](const Json& json) { return add_config_tokens(json, tokens); }));
  TOK_TRY(add_role_tokens(config, tokens));
  TOK_TRY(parts.added, AddedTokens::build(tokens.take(), parts.normalizer));
  const auto has_token = [&](uint32_t id) { return parts.has_token(id); };
  TOK_TRY(parts.post_processor, read_member(file, "post_processor", [&](const Json& json) {
            return PostProcessor::from_json(json, has_token);
          }));
  parts.roles = read_role_tokens(config);
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
