#include "text/tokenizer/token_model.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "text/tokenizer/json_fields.h"

namespace tokamak {
namespace {

/// Old files have no "type"; each kind has a member that no other kind has.
std::string_view guess_type(const Json& json) {
  const Json* vocab = json.find("vocab");
  if (json.find("merges") != nullptr) return "BPE";
  if (json.find("max_input_chars_per_word") != nullptr) return "WordPiece";
  if (vocab != nullptr && vocab->is_array()) return "Unigram";
  return "";
}

}  // namespace

WordCache::WordCache(size_t text_bytes)
    : entries_(std::clamp(std::bit_ceil(text_bytes / 4 + 1), size_t{16}, size_t{1} << 14)) {}

size_t WordCache::place(std::string_view word) const {
  return std::hash<std::string_view>{}(word) & (entries_.size() - 1);
}

bool WordCache::append_known(std::string_view word, std::vector<uint32_t>& ids) const {
  if (word.size() > kMaxWordBytes) return false;
  const Entry& entry = entries_[place(word)];
  if (std::string_view(entry.word.data(), entry.bytes) != word) return false;
  const size_t end = ids.size();
  ids.resize(end + entry.count);
  std::copy_n(ids.begin() + ptrdiff_t(entry.first), entry.count, ids.begin() + ptrdiff_t(end));
  return true;
}

void WordCache::remember(std::string_view word, const std::vector<uint32_t>& ids, size_t first) {
  if (word.size() > kMaxWordBytes) return;
  Entry& entry = entries_[place(word)];
  std::copy(word.begin(), word.end(), entry.word.begin());
  entry.bytes = uint32_t(word.size());
  entry.first = first;
  entry.count = uint32_t(ids.size() - first);
}

Result<TokenModelPtr> read_token_model(const Json& json, const ModelSurroundings& around) {
  TOK_TRY(auto type, optional_string_field(json, "type"));
  if (!type) type = guess_type(json);
  if (*type == "BPE") return read_bpe(json, around);
  if (*type == "Unigram") return read_unigram(json);
  if (*type == "WordPiece") return read_wordpiece(json, around);
  return unsupported("The model type \"{}\" is not supported.", *type);
}

Result<Vocabulary> read_vocabulary(const Json& model) {
  TOK_TRY(const Json* vocab, require_field(model, "vocab", Json::Kind::kObject));
  size_t bytes = 0;
  for (const auto& [token, id] : vocab->as_object()) bytes += token.size();
  TOK_TRY(Vocabulary vocabulary, Vocabulary::with_room(vocab->as_object().size(), bytes));
  for (const auto& [token, id] : vocab->as_object()) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= int64_t{UINT32_MAX}) {
      return invalid_input("The id of token \"{}\" is {}; a number from 0 to {} is expected.",
                           token, id.dump(), UINT32_MAX - 1);
    }
    TOK_TRY(vocabulary.add(token, uint32_t(id.as_integer())));
  }
  return vocabulary;
}

Result<std::optional<uint32_t>> read_unk_token(const Json& model, const Vocabulary& vocabulary,
                                               const ModelSurroundings& around) {
  TOK_TRY(const auto token, optional_string_field(model, "unk_token"));
  if (!token) return std::nullopt;
  if (const auto id = vocabulary.find(*token)) return id;
  if (around.added_tokens != nullptr && around.added_tokens->is_array()) {
    for (const Json& item : around.added_tokens->as_array()) {
      const Json* content = item.find("content");
      if (content != nullptr && *content == Json(*token)) return u32_field(item, "id");
    }
  }
  return invalid_input("\"unk_token\" is \"{}\", which is not in the vocabulary.", *token);
}

ByteTokens find_byte_tokens(const Vocabulary& vocabulary) {
  ByteTokens tokens;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    tokens[byte] = vocabulary.find(fmt::format("<0x{:02X}>", byte));
  }
  return tokens;
}

bool append_byte_tokens(const ByteTokens& tokens, std::string_view bytes,
                        std::vector<uint32_t>& ids) {
  const size_t first = ids.size();
  for (const char byte : bytes) {
    const auto id = tokens[uint8_t(byte)];
    if (!id) {
      ids.resize(first);
      return false;
    }
    ids.push_back(*id);
  }
  return true;
}

}  // namespace tokamak
