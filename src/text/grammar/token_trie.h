// TokenTrie: the tokens of a vocabulary by their bytes, in one array that is walked from left to
// right: where a byte may not follow, all tokens that begin so are skipped at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tokamak {

class Tokenizer;

class TokenTrie {
 public:
  /// A node's children come right behind it; `end` is the node behind the last of its descendants.
  /// The tokens that end at node i are those from its first to the first of node i + 1.
  struct Node {
    uint32_t end = 0, first_token = 0;
    uint8_t byte = 0;
  };

  TokenTrie() = default;
  /// Tokens without bytes are left out.
  explicit TokenTrie(std::vector<std::pair<std::string, uint32_t>> tokens);

  /// Node 0 is the root, and one more ends the array.
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const uint32_t> tokens_at(uint32_t node) const {
    return std::span(tokens_).subspan(nodes_[node].first_token,
                                      nodes_[node + 1].first_token - nodes_[node].first_token);
  }

 private:
  std::vector<Node> nodes_;
  std::vector<uint32_t> tokens_;
};

/// Bits by token id.
using TokenSet = std::vector<uint64_t>;
inline bool has_token(const TokenSet& set, uint32_t id) {
  return id / 64 < set.size() && (set[id / 64] >> (id % 64) & 1) != 0;
}
inline void add_token(TokenSet& set, uint32_t id) {
  set[id / 64] |= uint64_t{1} << (id % 64);
}

/// A vocabulary as grammars see it. Made once for a tokenizer; does not change.
class GrammarVocabulary {
 public:
  explicit GrammarVocabulary(const Tokenizer& tokenizer);

  uint32_t size() const { return size_; }
  const TokenTrie& all() const { return all_; }
  /// What tokens add to a text that they begin; it is all() where that is the same.
  const TokenTrie& beginnings() const { return begins_differ_ ? beginnings_ : all_; }
  /// Tokens that are in no plain().
  const TokenTrie& others() const { return others_; }
  /// Whole characters that stand for themselves in a JSON string, at most `count` of them.
  const TokenSet& plain(uint32_t count) const {
    return plain_[std::min<size_t>(count, plain_.size() - 1)];
  }
  /// No token has more bytes.
  uint32_t max_bytes() const { return max_bytes_; }
  TokenSet empty_set() const { return TokenSet((size_ + 63) / 64); }

 private:
  uint32_t size_;
  uint32_t max_bytes_ = 0;
  bool begins_differ_ = false;
  TokenTrie all_, beginnings_, others_;
  std::vector<TokenSet> plain_;
};

}  // namespace tokamak
