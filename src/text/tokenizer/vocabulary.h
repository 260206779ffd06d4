// The tokens of a model: id <-> bytes. Ids may have holes, but not many more than there are tokens,
// so that a hostile id cannot make tables large.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak {

class Vocabulary {
 public:
  static constexpr uint32_t kMaxHoles = 65536;
  static constexpr uint32_t kMaxTokens = 1u << 24;

  /// Makes room for `count` tokens of `total_bytes`; both come from what was really read.
  static Result<Vocabulary> with_room(size_t count, size_t total_bytes);

  /// Fails when the token or the id is taken, or the id is far beyond the number of tokens.
  Result<void> add(std::string_view token, uint32_t id);

  std::optional<uint32_t> find(std::string_view token) const;

  /// Many at once, several times faster than one by one: their memory is asked for ahead.
  /// REQUIRES: `ids` is as long as `tokens`.
  void find_all(std::span<const std::string_view> tokens,
                std::span<std::optional<uint32_t>> ids) const;

  bool has(uint32_t id) const { return id < tokens_.size() && tokens_[id].used; }
  /// Empty for an id without a token.
  std::string_view token(uint32_t id) const {
    if (!has(id)) return {};
    return std::string_view(bytes_).substr(tokens_[id].begin, tokens_[id].size);
  }
  /// One more than the largest id.
  uint32_t size() const { return uint32_t(tokens_.size()); }

 private:
  struct Token {
    size_t begin = 0;
    uint32_t size = 0;
    bool used = false;
  };
  struct Slot {
    uint32_t id = kNoId;
    uint32_t hash = 0;
  };
  static constexpr uint32_t kNoId = UINT32_MAX;

  static constexpr size_t kMaxProbes = 64;

  size_t first_slot(uint64_t hash) const { return size_t(hash) & (slots_.size() - 1); }
  /// The slot of `token`, or the free one that it gets; slots_.size() when there is neither near
  /// the first.
  size_t locate(std::string_view token, uint64_t hash) const;
  std::optional<uint32_t> find(std::string_view token, uint64_t hash) const;

  std::string bytes_;
  std::vector<Token> tokens_;  // by id
  std::vector<Slot> slots_;    // open addressing by the token's hash
  // Tokens that find no free slot near their own: a stranger may choose tokens of one hash.
  std::map<std::string, uint32_t, std::less<>> crowded_out_;
  size_t id_limit_ = 0;
};

}  // namespace tokamak
