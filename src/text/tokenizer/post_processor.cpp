#include "text/tokenizer/post_processor.h"

#include "text/tokenizer/json_fields.h"

namespace tokamak {
namespace {

/// The ids of special token `name` of a template.
Result<std::vector<uint32_t>> template_token(const Json& json, const std::string& name) {
  TOK_TRY(const Json* tokens, require_field(json, "special_tokens", Json::Kind::kObject));
  TOK_TRY(const Json* token, require_field(*tokens, name, Json::Kind::kObject));
  TOK_TRY(const Json* list, require_field(*token, "ids", Json::Kind::kArray));
  std::vector<uint32_t> ids;
  for (const Json& id : list->as_array()) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= int64_t{UINT32_MAX}) {
      return invalid_input("Special token \"{}\" has the id {}; a number is expected.", name,
                           id.dump());
    }
    ids.push_back(uint32_t(id.as_integer()));
  }
  return ids;
}

/// The id of ["name", id].
Result<uint32_t> pair_id(const Json& json, std::string_view name) {
  TOK_TRY(const Json* pair, require_field(json, name, Json::Kind::kArray));
  if (pair->as_array().size() != 2 || !pair->as_array()[1].is_integer() ||
      pair->as_array()[1].as_integer() < 0 ||
      pair->as_array()[1].as_integer() >= int64_t{UINT32_MAX}) {
    return invalid_input("\"{}\" is {}; a pair of a token and its id is expected.", name,
                         pair->dump());
  }
  return uint32_t(pair->as_array()[1].as_integer());
}

}  // namespace

Result<void> PostProcessor::add_template(const Json& json) {
  TOK_TRY(const Json* pieces, require_field(json, "single", Json::Kind::kArray));
  std::vector<uint32_t> before, after;
  bool has_text = false;
  for (const Json& piece : pieces->as_array()) {
    if (piece.find("Sequence") != nullptr) {
      if (has_text) return unsupported("A template that repeats its text is not supported.");
      has_text = true;
      continue;
    }
    TOK_TRY(const Json* special, require_field(piece, "SpecialToken", Json::Kind::kObject));
    TOK_TRY(const std::string name, string_field(*special, "id"));
    TOK_TRY(const auto ids, template_token(json, name));
    std::vector<uint32_t>& side = has_text ? after : before;
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (!has_text) return unsupported("A template without its text is not supported.");
  before_.insert(before_.begin(), before.begin(), before.end());
  after_.insert(after_.end(), after.begin(), after.end());
  pair_ = template_pair(json);
  return {};
}

/// Nothing where it lacks or repeats a text, or names tokens that are not there: few who read a
/// tokenizer have two texts for it.
std::optional<std::vector<PostProcessor::PairPart>> PostProcessor::template_pair(const Json& json) {
  const Json* pieces = json.find("pair");
  if (pieces == nullptr || !pieces->is_array()) return std::nullopt;
  std::vector<PairPart> parts;
  uint32_t texts = 0;  // a bit for each
  for (const Json& piece : pieces->as_array()) {
    PairPart part;
    const Json* sequence = piece.find("Sequence");
    const auto named = require_field(piece, sequence != nullptr ? "Sequence" : "SpecialToken",
                                     Json::Kind::kObject);
    if (!named) return std::nullopt;
    const auto name = string_field(**named, "id");
    if (!name) return std::nullopt;
    if (sequence != nullptr) {
      part.text = *name == "B" ? 2 : 1;
      if ((texts & part.text) != 0) return std::nullopt;
      texts |= part.text;
    } else {
      auto ids = template_token(json, *name);
      if (!ids) return std::nullopt;
      part.ids = *std::move(ids);
    }
    const Json* type = (*named)->find("type_id");
    part.type = type != nullptr && type->is_integer() && type->as_integer() == 1 ? 1 : 0;
    parts.push_back(std::move(part));
  }
  if (texts != 3) return std::nullopt;
  return parts;
}

/// A pair of texts has one token between for BERT, two for RoBERTa, which has one type for all.
Result<void> PostProcessor::add_sep_cls(const Json& json, bool is_roberta) {
  TOK_TRY(const uint32_t cls, pair_id(json, "cls"));
  TOK_TRY(const uint32_t sep, pair_id(json, "sep"));
  before_.insert(before_.begin(), cls);
  after_.push_back(sep);
  const uint32_t second = is_roberta ? 0 : 1;
  std::vector<PairPart> parts = {{.ids = {cls}}, {.text = 1}, {.ids = {sep}}};
  if (is_roberta) parts.push_back({.ids = {sep}});
  parts.push_back({.text = 2, .ids = {}, .type = second});
  parts.push_back({.ids = {sep}, .type = second});
  pair_ = std::move(parts);
  return {};
}

Result<void> PostProcessor::add(const Json& json) {
  TOK_TRY(const std::string type, string_field(json, "type"));
  if (type == "ByteLevel") return {};  // moves offsets only
  if (type == "TemplateProcessing") return add_template(json);
  if (type == "RobertaProcessing") return add_sep_cls(json, true);
  if (type == "BertProcessing") return add_sep_cls(json, false);
  if (type == "Sequence") {
    TOK_TRY(const Json* parts, require_field(json, "processors", Json::Kind::kArray));
    for (const Json& part : parts->as_array()) TOK_TRY(add(part));
    return {};
  }
  return unsupported("The post-processor type \"{}\" is not supported.", type);
}

Result<PostProcessor> PostProcessor::from_json(const Json& json, const HasToken& has_token) {
  PostProcessor processor;
  if (json.is_null()) return processor;
  TOK_TRY(processor.add(json));
  for (const auto* side : {&processor.before_, &processor.after_}) {
    for (const uint32_t id : *side) {
      if (!has_token(id)) {
        return invalid_input("The id {} is added to every text, but the vocabulary has no such id.",
                             id);
      }
    }
  }
  return processor;
}

}  // namespace tokamak
