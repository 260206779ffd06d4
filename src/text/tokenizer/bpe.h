// Byte pair encoding: a word starts as characters, and the pair of neighbours with the lowest rank
// is merged until no pair has a rank (Sennrich et al. 2016, arXiv:1508.07909).
//
// Sentence-piece style vocabularies do not cut text into words, so a word may be a whole document.
// Two things keep that fast: neighbours are merged through a heap, O(n log n); and a long word is
// first cut wherever no merge joins the two characters, which gives the same ids and short parts
// that the cache knows.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer/token_model.h"
#include "text/tokenizer/u64_map.h"

namespace tokamak {

class Bpe : public TokenModel {
 public:
  struct Merge {
    uint32_t left, right, result;
    uint32_t rank;  // of merges with equal ranks the leftmost in the word goes first
  };
  struct Options {
    std::optional<uint32_t> unk;
    bool fuse_unk = false;
    bool byte_fallback = false;
    bool ignore_merges = false;  // a word that is a token needs no merges
    std::string continuing_subword_prefix;
    std::string end_of_word_suffix;
  };

  /// The ids of `merges` are in the vocabulary.
  Bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, Options options);

  void encode(std::string_view word, WordCache& cache, std::vector<uint32_t>& ids) const override;

 private:
  void encode_part(std::string_view part, WordCache& cache, std::vector<uint32_t>& ids) const;
  void append_symbols(std::string_view word, std::vector<uint32_t>& ids) const;
  void merge(std::vector<uint32_t>& ids, size_t first) const;
  bool can_cut(const std::vector<Merge>& merges) const;
  bool is_dropped(std::string_view c) const;
  std::optional<uint32_t> find_symbol(std::string_view c, bool is_first, bool is_last) const;

  Options options_;
  ByteTokens byte_tokens_{};
  std::vector<uint32_t> char_ids_;  // of the characters below U+10000; kNoId where there is none
  U64Map merges_;                   // (left, right) -> (rank, result)
  U64Map joints_;                   // (last character of left, first of right), of any merge
  bool cuts_words_ = false;
};

/// The merges of `pairs`, by rank, each to the token that is spelled like both parts, without the
/// first `prefix_bytes` of the right one. Fails when one of the three is not in the vocabulary; the
/// error shows the pair as "left right" or as ["left", "right"].
Result<std::vector<Bpe::Merge>> find_merges(const Vocabulary& vocabulary,
                                            std::span<const MergePair> pairs, bool as_strings,
                                            size_t prefix_bytes = 0);

}  // namespace tokamak
