// tokenizer.json and the files beside it to TokenizerParts.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "text/tokenizer/json_fields.h"
#include "text/tokenizer/tokenizer_parts.h"

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

/// A token that the vocabulary has keeps the id it has there, and one that is listed twice its
/// first, like in the reference.
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
/// it an id after all others, for which models have no row.
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

/// The tokens that the config calls special. "additional_special_tokens" is the older name of
/// "extra_special_tokens", which may name its tokens.
std::vector<const Json*> special_tokens_of(const Json& config) {
  std::vector<const Json*> special;
  for (const auto& [name, token] : config.as_object()) {
    if (name.ends_with("_token")) special.push_back(&token);
    if (name != "additional_special_tokens" && name != "extra_special_tokens") continue;
    if (token.is_array()) {
      for (const Json& one : token.as_array()) special.push_back(&one);
    } else if (token.is_object()) {
      for (const auto& [own_name, one] : token.as_object()) special.push_back(&one);
    }
  }
  return special;
}

/// Tokens of added_tokens.json that nothing else has; special are those that the config calls so.
Result<void> add_legacy_tokens(const Json& ids, const Json& config, AddedTokenList& tokens) {
  std::set<std::string_view> special;
  for (const Json* token : special_tokens_of(config)) {
    if (const Json* text = token_text(*token)) special.insert(text->as_string());
  }
  const size_t id_limit =
      tokens.vocabulary().size() + tokens.size() + ids.as_object().size() + Vocabulary::kMaxHoles;
  for (const auto& [content, id] : ids.as_object()) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= int64_t{UINT32_MAX}) {
      return invalid_input(
          "added_tokens.json: The id of token \"{}\" is {}; a number from 0 to {} "
          "is expected.",
          content, id.dump(), UINT32_MAX - 1);
    }
    if (tokens.find(content) != nullptr || content.size() > AddedToken::kMaxBytes) continue;
    const auto own = tokens.vocabulary().find(content);
    if (!own && (tokens.has(uint32_t(id.as_integer())) || size_t(id.as_integer()) >= id_limit)) {
      continue;
    }
    AddedToken token;
    token.id = own ? *own : uint32_t(id.as_integer());
    token.content = content;
    token.special = special.contains(content);
    token.normalized = !token.special;
    tokens.add(std::move(token));
  }
  return {};
}

/// The tokenizers of Llama, Gemma and their kin put the begin and end tokens around a text as the
/// config says, whatever tokenizer.json has. Other classes leave the flags to their Python
/// versions.
bool heeds_flags(const Json& config) {
  const Json* name = config.find("tokenizer_class");
  if (name == nullptr || !name->is_string()) return true;
  constexpr std::string_view kClasses[] = {"LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer",
                                           "CohereTokenizer"};
  std::string_view text = name->as_string();
  if (text.ends_with("Fast")) text.remove_suffix(4);
  return std::ranges::find(kClasses, text) != std::end(kClasses);
}

/// The post-processor that "add_bos_token" and "add_eos_token" ask for; nothing where neither is
/// there.
Result<std::optional<PostProcessor>> flagged_post_processor(const Json& config,
                                                            const TokenizerParts& parts) {
  const auto flag = [&](std::string_view name, bool absent) -> Result<bool> {
    const Json* value = config.find(name);
    if (value == nullptr) return absent;
    if (value->is_null()) return false;
    return bool_field(config, name, absent);
  };
  TOK_TRY(const bool add_bos, flag("add_bos_token", true));
  TOK_TRY(const bool add_eos, flag("add_eos_token", false));
  const bool is_asked =
      config.find("add_bos_token") != nullptr || config.find("add_eos_token") != nullptr;
  if (!is_asked || !heeds_flags(config)) return std::nullopt;
  const auto ids = [&](bool wanted, std::string_view role) -> Result<std::vector<uint32_t>> {
    const auto found = std::ranges::find(parts.roles, role, [](const auto& r) { return r.first; });
    if (!wanted || found == parts.roles.end()) return std::vector<uint32_t>();
    const AddedToken* added = parts.added.find(found->second);
    const auto id =
        added != nullptr ? std::optional(added->id) : parts.model->vocabulary().find(found->second);
    if (!id) {
      return invalid_input("\"add_{}\" is true, but its token \"{}\" is not in the vocabulary.",
                           role, found->second);
    }
    return std::vector<uint32_t>{*id};
  };
  TOK_TRY(auto before, ids(add_bos, "bos_token"));
  TOK_TRY(auto after, ids(add_eos, "eos_token"));
  return PostProcessor(std::move(before), std::move(after));
}

/// The member `part` of tokenizer.json, if it is of type `type`, with members of the config where
/// it has some under these names.
Json with_config_members(const Json& file, std::string_view part, std::string_view type,
                         const Json& config,
                         std::initializer_list<std::pair<const char*, const char*>> names) {
  const Json* found = file.find(part);
  Json member = found == nullptr ? Json() : *found;
  const Json* own_type = member.find("type");
  if (own_type == nullptr || *own_type != Json(std::string(type))) return member;
  for (const auto& [config_name, name] : names) {
    const Json* value = config.find(config_name);
    if (value != nullptr && value->is_bool()) member.set(name, *value);
  }
  return member;
}

Result<TokenizerParts> read_parts(const Json& file, const ModelTables* tables, const Json& config,
                                  const Json& legacy_tokens) {
  TokenizerParts parts;
  const ModelSurroundings around{tables, file.find("added_tokens")};
  TOK_TRY(parts.model, read_member(file, "model", [&](const Json& json) {
            return read_token_model(json, around);
          }));
  const Json changed = Json::Object{
      {"normalizer", with_config_members(file, "normalizer", "BertNormalizer", config,
                                         {{"do_lower_case", "lowercase"},
                                          {"strip_accents", "strip_accents"},
                                          {"tokenize_chinese_chars", "handle_chinese_chars"}})},
      {"pre_tokenizer", with_config_members(file, "pre_tokenizer", "ByteLevel", config,
                                            {{"add_prefix_space", "add_prefix_space"}})}};
  TOK_TRY(parts.normalizer, read_member(changed, "normalizer", Normalizer::from_json));
  TOK_TRY(parts.pre_tokenizer, read_member(changed, "pre_tokenizer", PreTokenizer::from_json));
  TOK_TRY(parts.decoder, read_member(file, "decoder", Decoder::from_json));
  AddedTokenList tokens(parts.model->vocabulary());
  TOK_TRY(read_member(file, "added_tokens",
                      [&](const Json& json) { return read_added_tokens(json, tokens); }));
  TOK_TRY(read_member(config, "added_tokens_decoder",
                      [&](const Json& json) { return add_config_tokens(json, tokens); }));
  TOK_TRY(add_legacy_tokens(legacy_tokens, config, tokens));
  for (const Json* token : special_tokens_of(config)) TOK_TRY(add_role_token(*token, tokens));
  TOK_TRY(parts.added, AddedTokens::build(tokens.take(), parts.normalizer));
  const auto has_token = [&](uint32_t id) { return parts.has_token(id); };
  TOK_TRY(parts.post_processor, read_member(file, "post_processor", [&](const Json& json) {
            return PostProcessor::from_json(json, has_token);
          }));
  parts.roles = read_role_tokens(config);
  TOK_TRY(auto flagged, flagged_post_processor(config, parts));
  if (flagged) parts.post_processor = *std::move(flagged);
  TOK_TRY(parts.split_special, bool_field(config, "split_special_tokens", false));
  return parts;
}

}  // namespace

Result<TokenizerParts> read_tokenizer_parts(const TokenizerFiles& files) {
  TOK_TRY(const Json config, read_tokenizer_config(files));
  const bool is_legacy = config.find("added_tokens_decoder") == nullptr;
  TOK_TRY(const Json legacy_tokens,
          read_object("added_tokens.json", is_legacy ? files.added_tokens : std::string_view()));
  Result<TokenizerParts> parts;
  if (const auto document = split_model_tables(files.tokenizer)) {
    parts = read_parts(document->rest, &document->tables, config, legacy_tokens);
  } else {
    TOK_TRY(const Json file, parse_object("tokenizer.json", files.tokenizer));
    parts = read_parts(file, nullptr, config, legacy_tokens);
  }
  if (!parts) return std::unexpected(parts.error().within("tokenizer.json"));
  return parts;
}

}  // namespace tokamak
