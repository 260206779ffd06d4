// TokenTrie: the tokens of a vocabulary by their bytes, in one array that is walked from left to
// right: where a byte may not follow, all tokens that begin so are skipped at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokamak {

class Tokenizer;

class TokenTrie {
 public:
  /// A node's children come right after it; `end` is the node after the last of its descendants.
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
  std::span<const uint32_t> tokens_at(uint32_t node) const { return tokens(node, node + 1); }
  std::span<const uint32_t> tokens_below(uint32_t node) const {
    return tokens(node, nodes_[node].end);
  }
  /// The node that these bytes lead to from the root.
  std::optional<uint32_t> find(std::string_view bytes) const;

 private:
  std::span<const uint32_t> tokens(uint32_t first, uint32_t end) const {
    const uint32_t begin = nodes_[first].first_token;
    return std::span(tokens_).subspan(begin, nodes_[end].first_token - begin);
  }

  std::vector<Node> nodes_;
  std::vector<uint32_t> tokens_;
};

/// Bits by token id.
using TokenSet = std::vector<uint64_t>;
inline bool has_token(const TokenSet& set, uint32_t id) {
  return id / 64 < set.size() && (set[id / 64] >> (id % 64) & 1) != 0;
}
inline void remove_token(TokenSet& set, uint32_t id) {
  set[id / 64] &= ~(uint64_t{1} << (id % 64));
}
inline void add_token(TokenSet& set, uint32_t id) {
  set[id / 64] |= uint64_t{1} << (id % 64);
}

/// A vocabulary as grammars see it. Made once for a tokenizer; does not change.
class GrammarVocabulary {
 public:
  explicit GrammarVocabulary(const Tokenizer& tokenizer);

  uint32_t size() const { return size_; }
  /// The bytes of tokens at the beginning of a text; null where they are the same as later.
  const TokenTrie* beginnings() const { return begins_differ_ ? &beginnings_ : nullptr; }
  /// Tokens of whole characters that stand for themselves in a JSON string; all but long ones.
  const TokenTrie& plain() const { return plain_trie_; }
  const TokenTrie& others() const { return others_; }
  /// Those of plain() with at most `count` characters.
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
  TokenTrie plain_trie_, beginnings_, others_;
  std::vector<TokenSet> plain_;
};

}  // namespace tokamak
