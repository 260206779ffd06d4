#include "text/tokenizer/bpe.h"

#include <algorithm>

#include "base/check.h"
#include "text/tokenizer/json_fields.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

constexpr uint32_t kNoId = UINT32_MAX;
constexpr uint32_t kNoSymbol = UINT32_MAX;
constexpr uint32_t kCharTableSize = 0x10000;
constexpr size_t kBatch = 1024;  // merges that are looked up together
constexpr size_t kAhead = 16;    // merges whose place in the table is asked for ahead

uint64_t pack(uint32_t high, uint32_t low) {
  return uint64_t{high} << 32 | low;
}

/// A symbol of the word being merged, in a list linked by position.
struct Symbol {
  uint32_t id;
  uint32_t previous, next;
};

/// A pair that could be merged when it was pushed.
struct Candidate {
  uint64_t order;  // rank, then position: the leftmost of the lowest rank goes first
  uint32_t left, right, result;

  uint32_t position() const { return uint32_t(order); }
  bool operator<(const Candidate& other) const { return order > other.order; }  // a min-heap
};

}  // namespace

Bpe::Bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, Options options)
    : TokenModel(std::move(vocabulary)),
      options_(std::move(options)),
      char_ids_(kCharTableSize, kNoId) {
  const Vocabulary& tokens = this->vocabulary();
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    const std::string_view token = tokens.token(id);
    if (token.empty() || token.size() > 3) continue;
    const Utf8Char c = first_char(token);
    if (c.bytes == token.size() && c.value < kCharTableSize) char_ids_[c.value] = id;
  }
  if (options_.byte_fallback) byte_tokens_ = find_byte_tokens(tokens);
  merges_.reserve(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const Merge& ahead = merges[std::min(i + kAhead, merges.size() - 1)];
    merges_.prefetch(pack(ahead.left, ahead.right));
    merges_.set(pack(merges[i].left, merges[i].right), pack(merges[i].rank, merges[i].result));
  }
  cuts_words_ = can_cut(merges);
  if (!cuts_words_) return;
  std::vector<uint32_t> first_chars(tokens.size()), last_chars(tokens.size());
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    if (tokens.token(id).empty()) continue;
    first_chars[id] = uint32_t(first_char(tokens.token(id)).value);
    last_chars[id] = uint32_t(last_char(tokens.token(id)).value);
  }
  for (const Merge& merge : merges) {
    joints_.set(pack(last_chars[merge.left], first_chars[merge.right]), 0);
  }
}

/// Whether every symbol of a word is spelled as the text it stands for, so that a merge across two
/// characters shows in the spelling of its parts.
bool Bpe::can_cut(const std::vector<Merge>& merges) const {
  if (!options_.continuing_subword_prefix.empty() || !options_.end_of_word_suffix.empty()) {
    return false;
  }
  const bool spells_all_bytes =
      std::all_of(byte_tokens_.begin(), byte_tokens_.end(), [](auto id) { return id.has_value(); });
  if (options_.unk && !spells_all_bytes) return false;  // neighbouring unknowns may be fused
  std::vector<bool> special(vocabulary().size());
  for (uint32_t id = 0; id < special.size(); ++id) special[id] = vocabulary().token(id).empty();
  for (const auto& id : byte_tokens_) {
    if (id) special[*id] = true;
  }
  return std::none_of(merges.begin(), merges.end(), [&](const Merge& merge) {
    return special[merge.left] || special[merge.right];
  });
}

void Bpe::encode(std::string_view word, WordCache& cache, std::vector<uint32_t>& ids) const {
  if (options_.ignore_merges) {
    if (const auto id = vocabulary().find(word)) {
      ids.push_back(*id);
      return;
    }
  }
  if (!cuts_words_ || word.size() <= WordCache::kMaxWordBytes) return encode_part(word, cache, ids);
  size_t begin = 0;
  Utf8Char left = first_char(word);
  for (size_t at = left.bytes; at < word.size();) {
    const Utf8Char right = first_char(word.substr(at));
    if (is_dropped(word.substr(at, right.bytes))) {  // its neighbours are neighbours
      at += right.bytes;
      continue;
    }
    if (joints_.find(pack(uint32_t(left.value), uint32_t(right.value))) == nullptr) {
      encode_part(word.substr(begin, at - begin), cache, ids);
      begin = at;
    }
    at += right.bytes;
    left = right;
  }
  encode_part(word.substr(begin), cache, ids);
}

void Bpe::encode_part(std::string_view part, WordCache& cache, std::vector<uint32_t>& ids) const {
  if (cache.append_known(part, ids)) return;
  const size_t first = ids.size();
  append_symbols(part, ids);
  if (ids.size() - first > 1) merge(ids, first);
  cache.remember(part, ids, first);
}

std::optional<uint32_t> Bpe::find_symbol(std::string_view c, bool is_first, bool is_last) const {
  const bool prefixed = !is_first && !options_.continuing_subword_prefix.empty();
  const bool suffixed = is_last && !options_.end_of_word_suffix.empty();
  if (prefixed || suffixed) {
    std::string spelling = prefixed ? options_.continuing_subword_prefix : "";
    spelling += c;
    if (suffixed) spelling += options_.end_of_word_suffix;
    return vocabulary().find(spelling);
  }
  if (c.size() > 3) return vocabulary().find(c);
  const uint32_t id = char_ids_[first_char(c).value];
  return id == kNoId ? std::nullopt : std::optional(id);
}

/// Whether a character inside of a word leaves nothing.
bool Bpe::is_dropped(std::string_view c) const {
  if (options_.unk || find_symbol(c, false, false)) return false;
  return !options_.byte_fallback ||
         std::any_of(c.begin(), c.end(), [&](char byte) { return !byte_tokens_[uint8_t(byte)]; });
}

/// Characters to ids; those that have none become bytes, or unk, or nothing.
void Bpe::append_symbols(std::string_view word, std::vector<uint32_t>& ids) const {
  bool pending_unk = false;
  for (size_t at = 0; at < word.size();) {
    const size_t bytes = first_char(word.substr(at)).bytes;
    const std::string_view c = word.substr(at, bytes);
    const auto id = find_symbol(c, at == 0, at + bytes == word.size());
    at += bytes;
    if (id) {
      if (pending_unk) ids.push_back(*options_.unk);
      pending_unk = false;
      ids.push_back(*id);
      continue;
    }
    // A pending unk stays pending while bytes pass it, like the reference's.
    if (options_.byte_fallback && append_byte_tokens(byte_tokens_, c, ids)) continue;
    if (!options_.unk) continue;
    if (pending_unk && !options_.fuse_unk) ids.push_back(*options_.unk);
    pending_unk = true;
  }
  if (pending_unk) ids.push_back(*options_.unk);
}

/// Merges ids[first..] in place.
void Bpe::merge(std::vector<uint32_t>& ids, size_t first) const {
  const uint32_t count = uint32_t(ids.size() - first);
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
  symbols.reserve(count);
  heap.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    symbols.push_back(
        {ids[first + i], i == 0 ? kNoSymbol : i - 1, i + 1 == count ? kNoSymbol : i + 1});
  }
  const auto candidate = [&](uint32_t position) -> std::optional<Candidate> {
    const Symbol& left = symbols[position];
    if (left.next == kNoSymbol) return std::nullopt;
    const uint32_t right = symbols[left.next].id;
    const uint64_t* merge = merges_.find(pack(left.id, right));
    if (merge == nullptr) return std::nullopt;
    return Candidate{pack(uint32_t(*merge >> 32), position), left.id, right, uint32_t(*merge)};
  };
  const auto push = [&](uint32_t position) {
    if (const auto found = candidate(position)) {
      heap.push_back(*found);
      std::push_heap(heap.begin(), heap.end());
    }
  };
  for (uint32_t i = 0; i + 1 < count; ++i) {
    if (const auto found = candidate(i)) heap.push_back(*found);
  }
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Candidate top = heap.back();
    heap.pop_back();
    Symbol& left = symbols[top.position()];
    if (left.id != top.left || left.next == kNoSymbol) continue;
    Symbol& right = symbols[left.next];
    if (right.id != top.right) continue;
    left.id = top.result;
    right.id = kNoId;
    left.next = right.next;
    if (left.next != kNoSymbol) symbols[left.next].previous = top.position();
    if (left.previous != kNoSymbol) push(left.previous);
    push(top.position());
  }
  ids.resize(first);
  for (uint32_t at = 0; at != kNoSymbol; at = symbols[at].next) ids.push_back(symbols[at].id);
}

Result<std::vector<Bpe::Merge>> find_merges(const Vocabulary& vocabulary,
                                            std::span<const MergePair> pairs, bool as_strings,
                                            size_t prefix_bytes) {
  const auto shown = [&](const MergePair& pair) {
    if (as_strings) return Json(fmt::format("{} {}", pair.left, pair.right)).dump();
    return Json(Json::Array{pair.left, pair.right}).dump();
  };
  const auto missing = [&](const MergePair& pair, std::string_view token) {
    return invalid_input("The merge {} needs the token \"{}\", which is not in the vocabulary.",
                         shown(pair), token);
  };
  std::vector<Bpe::Merge> merges;
  merges.reserve(pairs.size());
  std::vector<std::string_view> tokens;
  std::vector<std::optional<uint32_t>> ids;
  std::string joined;
  for (size_t begin = 0; begin < pairs.size(); begin += kBatch) {
    const auto batch = pairs.subspan(begin, std::min(kBatch, pairs.size() - begin));
    tokens.clear();
    for (const MergePair& pair : batch) {
      tokens.push_back(pair.left);
      tokens.push_back(pair.right);
    }
    ids.resize(tokens.size());
    vocabulary.find_all(tokens, ids);
    for (size_t i = 0; i < batch.size(); ++i) {
      const MergePair& pair = batch[i];
      if (pair.right.size() < prefix_bytes) {
        return invalid_input("The merge {} has a second part without the prefix.", shown(pair));
      }
      const auto left = ids[2 * i], right = ids[2 * i + 1];
      if (!left) return missing(pair, pair.left);
      if (!right) return missing(pair, pair.right);
      joined.assign(pair.left);
      joined += pair.right.substr(prefix_bytes);
      // Vocabularies list what merges make in the order of the merges.
      const uint32_t last = merges.empty() ? 0 : merges.back().result;
      std::optional<uint32_t> result;
      for (const uint32_t guess : {last, last + 1}) {
        if (vocabulary.token(guess) == joined) result = guess;
      }
      if (!result) result = vocabulary.find(joined);
      if (!result) return missing(pair, joined);
      merges.push_back({*left, *right, *result, uint32_t(merges.size())});
    }
  }
  return merges;
}

namespace {

/// ["a", "b"] or "a b".
Result<MergePair> read_pair(const Json& merge) {
  if (merge.is_array() && merge.as_array().size() == 2 && merge.as_array()[0].is_string() &&
      merge.as_array()[1].is_string()) {
    return MergePair{merge.as_array()[0].as_string(), merge.as_array()[1].as_string()};
  }
  if (!merge.is_string()) {
    return invalid_input("The merge {} is neither a string nor a pair of strings.", merge.dump());
  }
  const std::string_view text = merge.as_string();
  const size_t space = text.find(' ');
  if (space == text.npos || text.find(' ', space + 1) != text.npos) {
    return invalid_input("The merge \"{}\" is not two tokens with a space between them.", text);
  }
  return MergePair{text.substr(0, space), text.substr(space + 1)};
}

Result<std::vector<MergePair>> read_pairs(const Json& json) {
  TOK_TRY(const Json* list, require_field(json, "merges", Json::Kind::kArray));
  std::vector<MergePair> pairs;
  pairs.reserve(list->as_array().size());
  for (const Json& item : list->as_array()) {
    if (item.is_string() && item.as_string().starts_with("#version")) continue;
    TOK_TRY(const MergePair pair, read_pair(item));
    pairs.push_back(pair);
  }
  return pairs;
}

Result<Vocabulary> make_vocabulary(const std::vector<TokenEntry>& entries) {
  size_t bytes = 0;
  for (const TokenEntry& entry : entries) bytes += entry.token.size();
  TOK_TRY(Vocabulary vocabulary, Vocabulary::with_room(entries.size(), bytes));
  for (const TokenEntry& entry : entries) TOK_TRY(vocabulary.add(entry.token, entry.id));
  return vocabulary;
}

}  // namespace

Result<TokenModelPtr> read_bpe(const Json& json, const ModelSurroundings& around) {
  const ModelTables* tables = around.tables;
  const Json* dropout = json.find("dropout");
  if (dropout != nullptr && !dropout->is_null() &&
      !(dropout->is_number() && dropout->as_number() == 0)) {
    return unsupported("\"dropout\" is {}; only models without dropout are supported.",
                       dropout->dump());
  }
  TOK_TRY(Vocabulary vocabulary,
          tables != nullptr ? make_vocabulary(tables->vocab) : read_vocabulary(json));
  Bpe::Options options;
  TOK_TRY(options.unk, read_unk_token(json, vocabulary, around));
  TOK_TRY(options.fuse_unk, bool_field(json, "fuse_unk", false));
  TOK_TRY(options.byte_fallback, bool_field(json, "byte_fallback", false));
  TOK_TRY(options.ignore_merges, bool_field(json, "ignore_merges", false));
  TOK_TRY(auto prefix, optional_string_field(json, "continuing_subword_prefix"));
  TOK_TRY(auto suffix, optional_string_field(json, "end_of_word_suffix"));
  options.continuing_subword_prefix = std::move(prefix).value_or("");
  options.end_of_word_suffix = std::move(suffix).value_or("");
  const size_t prefix_bytes = options.continuing_subword_prefix.size();
  std::vector<Bpe::Merge> merges;
  if (tables != nullptr) {
    TOK_TRY(merges,
            find_merges(vocabulary, tables->merges, tables->merges_are_strings, prefix_bytes));
  } else {
    TOK_TRY(const auto pairs, read_pairs(json));
    const Json::Array& items = json.find("merges")->as_array();
    const bool as_strings = !items.empty() && items[0].is_string();
    TOK_TRY(merges, find_merges(vocabulary, pairs, as_strings, prefix_bytes));
  }
  return std::make_unique<const Bpe>(std::move(vocabulary), merges, std::move(options));
}

}  // namespace tokamak
