#include "text/grammar/token_trie.h"

#include <algorithm>

#include "text/grammar/token_bytes.h"
#include "text/tokenizer/tokenizer.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

/// Longer tokens are few, and a set for each length has the size of the vocabulary.
constexpr uint32_t kMaxPlain = 32;

/// How many characters of a JSON string the bytes are; nothing where some are none.
std::optional<uint32_t> plain_characters(std::string_view bytes) {
  const auto stands_for_itself = [](char c) { return c != '"' && c != '\\' && uint8_t(c) >= 0x20; };
  if (!std::ranges::all_of(bytes, stands_for_itself) || !is_valid_utf8(bytes)) return {};
  return uint32_t(std::ranges::count_if(bytes, [](char c) { return (uint8_t(c) & 0xC0) != 0x80; }));
}

}  // namespace

TokenTrie::TokenTrie(std::vector<std::pair<std::string, uint32_t>> tokens) {
  std::erase_if(tokens, [](const auto& token) { return token.first.empty(); });
  std::ranges::sort(tokens);
  std::vector<uint32_t> path = {0};  // nodes from the root to the last token's
  nodes_.push_back({});
  std::string_view last;
  for (const auto& [text, id] : tokens) {
    const std::string_view bytes = text;
    const size_t same = size_t(std::ranges::mismatch(last, bytes).in1 - last.begin());
    while (path.size() > same + 1) {
      nodes_[path.back()].end = uint32_t(nodes_.size());
      path.pop_back();
    }
    for (const char byte : bytes.substr(same)) {
      path.push_back(uint32_t(nodes_.size()));
      nodes_.push_back({.end = 0, .first_token = uint32_t(tokens_.size()), .byte = uint8_t(byte)});
    }
    tokens_.push_back(id);
    last = bytes;
  }
  for (const uint32_t node : path) nodes_[node].end = uint32_t(nodes_.size());
  nodes_.push_back({.end = 0, .first_token = uint32_t(tokens_.size()), .byte = 0});
}

std::optional<uint32_t> TokenTrie::find(std::string_view bytes) const {
  uint32_t at = 0;
  for (const char byte : bytes) {
    const uint32_t end = nodes_[at].end;
    uint32_t child = at + 1;
    while (child < end && nodes_[child].byte != uint8_t(byte)) child = nodes_[child].end;
    if (child >= end) return {};
    at = child;
  }
  return at;
}

std::string grammar_bytes(const Tokenizer& tokenizer, uint32_t id, bool begins) {
  if (tokenizer.is_special(id)) return kSpecialMark + std::string(*tokenizer.token(id));
  std::string bytes = tokenizer.bytes(id, begins);
  // A token for this byte, as vocabularies of bytes have one, would spell special tokens.
  if (bytes.find(kSpecialMark) != std::string::npos) bytes.clear();
  return bytes;
}

GrammarVocabulary::GrammarVocabulary(const Tokenizer& tokenizer) : size_(tokenizer.vocab_size()) {
  std::vector<std::pair<std::string, uint32_t>> others, plain, beginnings;
  std::vector<std::vector<uint32_t>> by_length(kMaxPlain + 1);
  for (uint32_t id = 0; id < size_; ++id) {
    if (!tokenizer.token(id)) continue;
    std::string bytes = grammar_bytes(tokenizer, id), begin = grammar_bytes(tokenizer, id, true);
    max_bytes_ = std::max({max_bytes_, uint32_t(bytes.size()), uint32_t(begin.size())});
    begins_differ_ = begins_differ_ || begin != bytes;
    beginnings.emplace_back(std::move(begin), id);
    if (const auto characters = plain_characters(bytes); characters && *characters <= kMaxPlain) {
      if (*characters > 0) by_length[*characters].push_back(id);
      plain.emplace_back(std::move(bytes), id);
    } else {
      others.emplace_back(std::move(bytes), id);
    }
  }
  others_ = TokenTrie(std::move(others));
  plain_trie_ = TokenTrie(std::move(plain));
  if (begins_differ_) beginnings_ = TokenTrie(std::move(beginnings));
  TokenSet set = empty_set();
  for (const std::vector<uint32_t>& ids : by_length) {
    for (const uint32_t id : ids) add_token(set, id);
    plain_.push_back(set);
  }
}

}  // namespace tokamak
