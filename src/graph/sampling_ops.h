// Ops that choose the next token on the device.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace tokamak {

/// The best of each 64 neighbours: its value, then its column as a number. NaN never wins, of
/// equals the lowest column does; where nothing is above the lowest f32, that is the value.
///                                              (x [T, n]) -> [T, 2*ceil(n/64)]
struct BlockArgmax {
  static constexpr std::string_view kName = "block_argmax";
  static void fields(auto&, auto&&) {}
  bool operator==(const BlockArgmax&) const = default;
};
inline constexpr uint32_t kArgmaxBlock = 64;

/// Chooses the next token of each row and makes the batch that of the step after it: the column of
/// the best candidate becomes the row's token and, as a number, element Slot::chosen of `ids`,
/// counted around, which has as many numbers as the phase rows. It is -1 where no value was a
/// finite number.
///     (candidates [1, 2*k], ids [n]) -> ids
struct NextToken {
  static constexpr std::string_view kName = "next_token";
  static void fields(auto&, auto&&) {}
  bool operator==(const NextToken&) const = default;
};

/// How many of the most probable tokens a list for sampling has. Common top_k are up to 100; of
/// 262144 tokens the best 128 hold most draws at a temperature of 1, and 1 KiB is read back.
inline constexpr uint32_t kTopK = 128;

/// Neighbours in a block of the ops below: as few as leave at most kMaxBlocks, so that ranking the
/// blocks and ranking what is in the best of them cost about the same.
inline constexpr int64_t kMaxBlocks = 2048;
constexpr int64_t candidate_block(int64_t columns) {
  int64_t block = 16;
  while ((columns - 1) / block >= kMaxBlocks) block *= 2;
  return block;
}

/// A set of tokens, a bit for each: token i has bit i % 32 of word i / 32.
constexpr int64_t token_words(int64_t tokens) {
  return (tokens + 31) / 32;
}
constexpr bool has_token(std::span<const uint32_t> words, uint32_t id) {
  return (words[id / 32] >> id % 32 & 1) != 0;
}
constexpr void add_token(std::span<uint32_t> words, uint32_t id) {
  words[id / 32] |= 1u << id % 32;
}

/// The largest of each block of neighbours, then the sum of exp((x - largest) *
/// inverse_temperature) over the block. NaN, infinities and the lowest f32 do not count, nor where
/// SamplingRule::masked says so what is not in the slot's `allowed`; a block of nothing else has
/// the lowest f32 and 0. The sum is -1 where something that may count is +infinity.
///                     (x [T, n], allowed u32[token_words(n)]) -> [T, 2*ceil(n/candidate_block(n))]
struct BlockMaxima {
  static constexpr std::string_view kName = "block_maxima";
  static void fields(auto&, auto&&) {}
  bool operator==(const BlockMaxima&) const = default;
};

/// The numbers of the blocks with the largest maxima, best first, of equals the lowest first. The
/// best k tokens are in the best k blocks.
///                                              (maxima [T, 2*b]) -> [T, min(kTopK, b)]
struct TopKBlocks {
  static constexpr std::string_view kName = "topk_blocks";
  static void fields(auto&, auto&&) {}
  bool operator==(const TopKBlocks&) const = default;
};

/// The list that sampling needs: the k = min(kTopK, n) largest values, each followed by its
/// column as a number, best first, of equals the lowest column first; then the sum of exp((x -
/// largest) * inverse_temperature) over all columns. What does not count in BlockMaxima is
/// not listed: pairs left over are the lowest f32 and -1. The sum is -1 where BlockMaxima has one.
///     (x [T, n], maxima [T, 2*b], blocks [T, min(kTopK, b)], allowed u32[w]) -> [T, 2*k + 1]
struct TopKTokens {
  static constexpr std::string_view kName = "topk_tokens";
  static void fields(auto&, auto&&) {}
  bool operator==(const TopKTokens&) const = default;
};

/// Draws the next token of each row by its slot's rule and makes the batch that of the step after
/// it. With a repetition penalty, the logits of tokens that have occurred are divided by it, or
/// multiplied where they are below 0, and the list is taken in the order that leaves. Of the
/// listed, those survive that are among the first top_k or equal to the last of these; then those
/// with less than top_p of the mass before them; then those with min_p of the first one's
/// probability. The random number, the top 24 bits of splitmix64's next, says in whose share of the
/// mass it falls. The mass is that of the survivors where top_k, top_p or min_p is on, else the
/// list's sum. Row Slot::chosen of `lists`, counted around, gets the list as it was and the token
/// as a number, -1 where it falls on no listed one; with a penalty, the token has then occurred.
/// All in f32 and without regard to what the list leaves open: a guess that the list can confirm.
///     (list [1, 2*k + 1], lists [n, 2*k + 2], occurred u32[w]) -> lists, occurred
struct SampleToken {
  static constexpr std::string_view kName = "sample_token";
  static void fields(auto&, auto&&) {}
  bool operator==(const SampleToken&) const = default;
};

}  // namespace tokamak
