// GrammarMasks: which tokens of a vocabulary may follow where a text stands in a grammar.
//
// The tokens that may follow in a place by itself are found once by a walk through the vocabulary,
// with beginnings of tokens that end what the place belongs to; those alone are tried on the stack.
#pragma once
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/grammar/places.h"
#include "text/grammar/token_trie.h"

namespace tokamak {

/// The masks belong to one grammar, and are shared by all texts that follow it on the same thread.
class GrammarMasks {
 public:
  GrammarMasks(std::shared_ptr<const Grammar> grammar,
               std::shared_ptr<const GrammarVocabulary> vocabulary);

  const Grammar& grammar() const { return *grammar_; }
  const GrammarVocabulary& vocabulary() const { return *vocabulary_; }
  const std::shared_ptr<GrammarPlaces>& places() const { return places_; }

  /// Returns the tokens that may follow; `begins`: the text has no tokens yet. Valid until the next
  /// call, and of no use where places() are too wide afterwards: it is left at once. REQUIRES: a
  /// position of places().
  const TokenSet& after(GrammarPlaces::Position position, bool begins);
  /// The same where it is kept, otherwise null.
  const TokenSet* known_after(GrammarPlaces::Position position, bool begins);
  /// Whether some token begins with these bytes, has more, and may follow with those where a text
  /// stands that has the bytes already.
  bool continues(std::string_view bytes, GrammarPlaces::Position after);
  /// Starts with empty tables where the old ones are full. What still uses those must move.
  void renew_if_full();

 private:
  static constexpr size_t kMaxKeptBytes = size_t{64} << 20, kMaxKept = 4096;
  using Position = GrammarPlaces::Position;

  /// A node at which a token has ended what its place belongs to.
  struct Leave {
    const TokenTrie* trie = nullptr;
    uint32_t node = 0;
  };
  struct Inner {
    TokenSet set;               // where there are many, or
    std::vector<uint32_t> ids;  // where there are few
    std::vector<Leave> leaves;
    bool leaves_at_once = false;
  };
  struct Kept {
    Position position;
    TokenSet set;
  };
  struct Frame {
    uint32_t end = 0;
    Position position;
  };

  const Inner& inner(uint32_t place);
  void walk(const TokenTrie& trie, uint32_t root, Position start, TokenSet& allowed,
            std::vector<Leave>* leaves);
  bool any_below(const TokenTrie& trie, uint32_t root, Position start);
  bool take_plain(uint32_t place, TokenSet& allowed, std::vector<Leave>& leaves);
  TokenSet made(Position position);
  uint32_t uncounted(uint32_t place);
  std::optional<std::set<uint32_t>> after_bytes(const std::set<uint32_t>& places,
                                                std::pair<uint8_t, uint8_t> range);
  bool is_free(uint32_t place);
  bool is_free_after_character(uint32_t place, uint8_t first);

  std::shared_ptr<const Grammar> grammar_;
  std::shared_ptr<const GrammarVocabulary> vocabulary_;
  std::shared_ptr<GrammarPlaces> places_;
  std::vector<uint32_t> characters_;  // states before a character of a JSON string
  enum class Free : uint8_t { kUnknown, kNo, kYes };
  std::vector<Free> free_;                                   // by place
  std::unordered_map<uint64_t, bool> free_after_character_;  // by place and kind of character
  std::unordered_map<uint32_t, uint32_t> uncounted_;
  std::unordered_map<uint32_t, Inner> inner_;
  size_t inner_bytes_ = 0;
  std::list<Kept> kept_;  // last used first
  std::unordered_map<uint64_t, std::list<Kept>::iterator> kept_index_;
  TokenSet first_;
  std::vector<Frame> frames_;
};

}  // namespace tokamak
