#include "text/grammar/masks.h"

#include <algorithm>
#include <bit>

namespace tokamak {
namespace {

/// A set of fewer tokens than this share of the vocabulary is kept as a list.
constexpr size_t kFew = 128;

uint64_t key_of(GrammarPlaces::Position position) {
  return uint64_t{position.place} << 32 | position.stack;
}

void unite(TokenSet& set, const TokenSet& other) {
  for (size_t i = 0; i < set.size(); ++i) set[i] |= other[i];
}

std::vector<uint32_t> ids_of(const TokenSet& set) {
  std::vector<uint32_t> ids;
  for (size_t i = 0; i < set.size(); ++i) {
    for (uint64_t word = set[i]; word != 0; word &= word - 1) {
      ids.push_back(uint32_t(64 * i) + uint32_t(std::countr_zero(word)));
    }
  }
  return ids;
}

size_t count_of(const TokenSet& set) {
  size_t count = 0;
  for (const uint64_t word : set) count += size_t(std::popcount(word));
  return count;
}

/// Tokens below some nodes of a trie.
struct Subtrees {
  std::vector<std::span<const uint32_t>> parts;
  size_t count = 0;  // of their tokens

  void add(std::span<const uint32_t> tokens) {
    parts.push_back(tokens);
    count += tokens.size();
  }
};

}  // namespace

GrammarMasks::GrammarMasks(std::shared_ptr<const Grammar> grammar,
                           std::shared_ptr<const GrammarVocabulary> vocabulary)
    : grammar_(std::move(grammar)),
      vocabulary_(std::move(vocabulary)),
      places_(std::make_shared<GrammarPlaces>(*grammar_)) {
  if (!grammar_->json_character()) return;
  const Position character = places_->enter(*grammar_->json_character());
  for (const auto& thread : places_->place(character.place).threads) {
    characters_.push_back(thread.state);
  }
}

void GrammarMasks::renew_if_full() {
  if (!places_->is_full()) return;
  places_ = std::make_shared<GrammarPlaces>(*grammar_);
  inner_.clear();
  inner_bytes_ = 0;
  uncounted_.clear();
  free_.clear();
  free_after_character_.clear();
  kept_.clear();
  kept_index_.clear();
}

/// The place as far as a token can tell.
uint32_t GrammarMasks::uncounted(uint32_t place) {
  const auto [known, is_new] = uncounted_.try_emplace(place, place);
  if (is_new) {
    known->second = places_->without_counts_from(vocabulary_->max_bytes() + 1, place);
  }
  return known->second;
}

const TokenSet* GrammarMasks::known_after(Position position, bool begins) {
  if (begins) return nullptr;
  position.place = uncounted(position.place);
  const auto known = kept_index_.find(key_of(position));
  if (known == kept_index_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, known->second);
  return &known->second->set;
}

const TokenSet& GrammarMasks::after(Position position, bool begins) {
  if (begins) {
    first_ = vocabulary_->empty_set();
    if (const TokenTrie* beginnings = vocabulary_->beginnings()) {
      walk(*beginnings, 0, position, first_, nullptr);
    } else {
      walk(vocabulary_->plain(), 0, position, first_, nullptr);
      walk(vocabulary_->others(), 0, position, first_, nullptr);
    }
    return first_;
  }
  if (const TokenSet* known = known_after(position, begins)) return *known;
  position.place = uncounted(position.place);
  kept_.push_front({position, made(position)});
  kept_index_[key_of(position)] = kept_.begin();
  const size_t bytes = std::max<size_t>(8 * kept_.front().set.size(), 1);
  if (kept_.size() > std::min(kMaxKept, kMaxKeptBytes / bytes + 1)) {
    kept_index_.erase(key_of(kept_.back().position));
    kept_.pop_back();
  }
  return kept_.front().set;
}

TokenSet GrammarMasks::made(Position position) {
  TokenSet allowed = vocabulary_->empty_set();
  for (;;) {
    const Inner& own = inner(position.place);
    if (own.set.empty()) {
      for (const uint32_t id : own.ids) add_token(allowed, id);
    } else {
      unite(allowed, own.set);
    }
    if (position.stack == GrammarPlaces::kNone) return allowed;
    const bool leaves_at_once = own.leaves_at_once;
    const Position below = places_->below(position.stack);
    for (const Leave& leave : own.leaves) {
      walk(*leave.trie, leave.node, below, allowed, nullptr);
    }
    if (!leaves_at_once) return allowed;
    position = below;
  }
}

/// The tokens that may follow in `place`, whatever it belongs to.
const GrammarMasks::Inner& GrammarMasks::inner(uint32_t place) {
  const auto known = inner_.find(place);
  if (known != inner_.end()) return known->second;
  if (inner_bytes_ > kMaxKeptBytes) {
    inner_.clear();
    inner_bytes_ = 0;
  }
  Inner made;
  made.set = vocabulary_->empty_set();
  made.leaves_at_once = places_->place(place).leaves;
  if (!take_plain(place, made.set, made.leaves)) {
    walk(vocabulary_->plain(), 0, {place, GrammarPlaces::kNone}, made.set, &made.leaves);
    walk(vocabulary_->others(), 0, {place, GrammarPlaces::kNone}, made.set, &made.leaves);
  }
  if (count_of(made.set) < vocabulary_->size() / kFew) {
    made.ids = ids_of(made.set);
    made.set = {};
  }
  inner_bytes_ += 8 * made.set.size() + 4 * made.ids.size() + sizeof(Leave) * made.leaves.size();
  return inner_.emplace(place, std::move(made)).first->second;
}

/// Inside a JSON string that takes all characters the plain tokens need no walk. False where the
/// place is none.
bool GrammarMasks::take_plain(uint32_t place, TokenSet& allowed, std::vector<Leave>& leaves) {
  if (characters_.empty()) return false;
  const std::vector<GrammarPlaces::Thread> threads = places_->place(place).threads;
  const uint32_t rule = *grammar_->json_character();
  const auto repeats = [&](uint32_t stack) {
    if (stack == GrammarPlaces::kNone) return false;
    const GrammarPlaces::Open& open = places_->open(stack);
    return open.room > 0 && grammar_->states()[open.state].other == rule;
  };
  const auto found =
      std::ranges::find_if(threads, [&](const auto& thread) { return repeats(thread.stack); });
  if (found == threads.end()) return false;
  const uint32_t stack = found->stack;
  size_t characters = 0;
  std::vector<GrammarPlaces::Thread> rest;  // that may begin with a plain character
  for (const auto& thread : threads) {
    if (thread.stack == stack && std::ranges::binary_search(characters_, thread.state)) {
      ++characters;
      continue;
    }
    const Grammar::State& state = grammar_->states()[thread.state];
    const bool is_quote = state.low == '"' && state.high == '"';
    if (!is_quote && state.low != '\\') rest.push_back(thread);
  }
  if (characters != characters_.size()) return false;
  unite(allowed, vocabulary_->plain(places_->open(stack).room));
  walk(vocabulary_->others(), 0, {place, GrammarPlaces::kNone}, allowed, &leaves);
  if (rest.empty()) return true;
  const Position alone = places_->place_of(std::move(rest));
  walk(vocabulary_->plain(), 0, alone, allowed, &leaves);
  return true;
}

bool GrammarMasks::continues(std::string_view bytes, Position after) {
  for (const TokenTrie* trie : {&vocabulary_->others(), &vocabulary_->plain()}) {
    const auto node = trie->find(bytes);
    if (node && any_below(*trie, *node, after)) return true;
  }
  return false;
}

/// Whether walk() would find something.
bool GrammarMasks::any_below(const TokenTrie& trie, uint32_t root, Position start) {
  const std::span<const TokenTrie::Node> nodes = trie.nodes();
  frames_.assign(1, {nodes[root].end, places_->settled(start)});
  for (uint32_t i = root + 1; i < nodes[root].end && !places_->is_too_wide();) {
    while (frames_.back().end <= i) frames_.pop_back();
    const Position next = places_->step(frames_.back().position, nodes[i].byte);
    if (next.place == GrammarPlaces::kDead) {
      i = nodes[i].end;
      continue;
    }
    if (!trie.tokens_at(i).empty()) return true;
    frames_.push_back({nodes[i].end, places_->settled(next)});
    ++i;
  }
  return false;
}

/// Adds the tokens of `trie` below `root` that may follow `start`. With `leaves` the stack ends
/// where something unknown follows: nodes at which it does, but the root, are added to it.
void GrammarMasks::walk(const TokenTrie& trie, uint32_t root, Position start, TokenSet& allowed,
                        std::vector<Leave>* leaves) {
  const std::span<const TokenTrie::Node> nodes = trie.nodes();
  const uint32_t end = nodes[root].end;
  const bool is_plain = &trie == &vocabulary_->plain();
  Subtrees taken, refused;
  frames_.assign(1, {end, places_->settled(start)});
  for (uint32_t i = root + 1; i < end && !places_->is_too_wide();) {
    while (frames_.back().end <= i) frames_.pop_back();
    const TokenTrie::Node& node = nodes[i];
    Position next = places_->step(frames_.back().position, node.byte);
    if (next.place == GrammarPlaces::kDead) {
      refused.add(trie.tokens_below(i));
      i = node.end;
      continue;
    }
    if (is_plain && (is_free(next.place) || is_free_after_character(next.place, node.byte))) {
      taken.add(trie.tokens_below(i));
      i = node.end;
      continue;
    }
    for (const uint32_t id : trie.tokens_at(i)) add_token(allowed, id);
    if (node.end > i + 1) {
      if (places_->place(next.place).leaves) {
        next = places_->settled(next);
        const bool ends = next.stack == GrammarPlaces::kNone && places_->place(next.place).leaves;
        if (ends && leaves != nullptr) leaves->push_back({&trie, i});
      }
      frames_.push_back({node.end, next});
    }
    ++i;
  }
  if (root == 0 && taken.count > refused.count) {
    // Most plain tokens may follow: those that may not are fewer.
    TokenSet most = vocabulary_->plain(UINT32_MAX);
    for (const auto& tokens : refused.parts) {
      for (const uint32_t id : tokens) remove_token(most, id);
    }
    unite(allowed, most);
  } else {
    for (const auto& tokens : taken.parts) {
      for (const uint32_t id : tokens) add_token(allowed, id);
    }
  }
}

}  // namespace tokamak
