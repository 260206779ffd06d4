#include "text/tokenizer/vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "base/check.h"

namespace tokamak {
namespace {

uint64_t hash_of(std::string_view token) {
  return std::hash<std::string_view>{}(token)*uint64_t{0x9E3779B97F4A7C15u};
}

}  // namespace

Result<Vocabulary> Vocabulary::with_room(size_t count, size_t total_bytes) {
  if (count > kMaxTokens) {
    return unsupported("The vocabulary has {} tokens; at most {} are supported.", count,
                       kMaxTokens);
  }
  Vocabulary vocabulary;
  vocabulary.bytes_.reserve(total_bytes);
  vocabulary.tokens_.reserve(count);
  vocabulary.slots_.resize(std::bit_ceil(count + count / 2 + 16));
  vocabulary.id_limit_ = count + kMaxHoles;
  return vocabulary;
}

size_t Vocabulary::locate(std::string_view token, uint64_t hash) const {
  size_t at = first_slot(hash);
  for (size_t probes = 0; probes < kMaxProbes; ++probes) {
    const Slot& slot = slots_[at];
    if (slot.id == kNoId) return at;
    if (slot.hash == uint32_t(hash >> 32) && this->token(slot.id) == token) return at;
    at = (at + 1) & (slots_.size() - 1);
  }
  return slots_.size();
}

Result<void> Vocabulary::add(std::string_view token, uint32_t id) {
  if (id >= id_limit_) {
    return invalid_input("Token \"{}\" has id {}, far beyond the {} tokens of the vocabulary.",
                         token, id, id_limit_ - kMaxHoles);
  }
  if (has(id)) {
    return invalid_input("The tokens \"{}\" and \"{}\" both have id {}.", this->token(id), token,
                         id);
  }
  const uint64_t hash = hash_of(token);
  if (const auto known = find(token, hash)) {
    return invalid_input("Token \"{}\" is in the vocabulary twice, with ids {} and {}.", token,
                         *known, id);
  }
  if (id >= tokens_.size()) tokens_.resize(size_t{id} + 1);
  if (const size_t at = locate(token, hash); at != slots_.size()) {
    slots_[at] = {id, uint32_t(hash >> 32)};
  } else {
    crowded_out_.emplace(token, id);
  }
  tokens_[id] = {bytes_.size(), uint32_t(token.size()), true};
  bytes_ += token;
  return {};
}

std::optional<uint32_t> Vocabulary::find(std::string_view token) const {
  return find(token, hash_of(token));
}

std::optional<uint32_t> Vocabulary::find(std::string_view token, uint64_t hash) const {
  if (slots_.empty()) return std::nullopt;
  if (const size_t at = locate(token, hash); at != slots_.size()) {
    return slots_[at].id == kNoId ? std::nullopt : std::optional(slots_[at].id);
  }
  const auto found = crowded_out_.find(token);
  return found == crowded_out_.end() ? std::nullopt : std::optional(found->second);
}

void Vocabulary::find_all(std::span<const std::string_view> tokens,
                          std::span<std::optional<uint32_t>> ids) const {
  constexpr size_t kBatch = 64;
  TOK_CHECK(tokens.size() == ids.size());
  std::array<uint64_t, kBatch> hashes{};
  for (size_t begin = 0; begin < tokens.size(); begin += kBatch) {
    const size_t count = std::min(kBatch, tokens.size() - begin);
    for (size_t i = 0; i < count && !slots_.empty(); ++i) {
      hashes[i] = hash_of(tokens[begin + i]);
      __builtin_prefetch(&slots_[first_slot(hashes[i])]);
    }
    // A first slot that is not the token's own makes the look-up below wait for its memory.
    const auto probable = [&](size_t i) -> const Token* {
      const uint32_t id = slots_.empty() ? kNoId : slots_[first_slot(hashes[i])].id;
      return id == kNoId ? nullptr : &tokens_[id];
    };
    for (size_t i = 0; i < count; ++i) {
      if (const Token* token = probable(i)) __builtin_prefetch(token);
    }
    for (size_t i = 0; i < count; ++i) {
      if (const Token* token = probable(i)) __builtin_prefetch(bytes_.data() + token->begin);
    }
    for (size_t i = 0; i < count; ++i) ids[begin + i] = find(tokens[begin + i], hashes[i]);
  }
}

}  // namespace tokamak
