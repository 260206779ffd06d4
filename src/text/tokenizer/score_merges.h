// SentencePiece's BPE as merges: of all neighbours whose joined text is a piece, those with the
// highest score are merged first, the leftmost of equal ones (sentencepiece, src/bpe_model.cc).
#pragma once
#include <span>
#include <vector>

#include "text/tokenizer/bpe.h"

namespace tokamak {

/// Longer pieces cost too much: every way to cut one is tried.
inline constexpr size_t kMaxPieceBytes = 1024;

/// Every way to join two pieces to a third. `scores` and `is_piece` are by id; a token that is not
/// a piece takes no part. Pieces of equal score have equal ranks. REQUIRES: no score is NaN, no
/// piece is longer than kMaxPieceBytes.
std::vector<Bpe::Merge> merges_by_score(const Vocabulary& vocabulary, std::span<const float> scores,
                                        const std::vector<bool>& is_piece);

}  // namespace tokamak
