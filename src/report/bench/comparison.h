// The distance between two models on the same text: how far the probabilities that B gives are from
// those of A, which may be the same model in another type or with other settings.
#pragma once
#include <span>
#include <vector>

#include "report/bench/perplexity.h"

namespace tokamak {

/// The difference of two models at one position.
struct RowDifference {
  double a_loss = 0, b_loss = 0;  // of the token that follows in the text
  double divergence = 0;          // Kullback-Leibler, KL(A || B), in nats
  bool has_same_top = false;      // the most probable token
};
/// REQUIRES: rows of the same length, longer than `id`. Errors: logits that are no numbers.
Result<RowDifference> row_difference(std::span<const float> a, std::span<const float> b,
                                     uint32_t id);

/// The value that this share of the sorted ones is below, between two of them in proportion.
/// REQUIRES: at least one.
double quantile_of(std::span<const double> sorted, double share);

struct Comparison {
  size_t windows = 0, tokens = 0;  // that counted
  Perplexity a, b;
  Estimate loss_difference;  // B's minus A's, of each token
  Estimate divergence;
  double divergence_99 = 0, largest_divergence = 0;  // its 99 % quantile
  Estimate same_top;                                 // share of the positions

  /// B's perplexity by A's: its error is small where both err alike.
  double ratio() const { return std::exp(loss_difference.mean); }
  double ratio_error() const { return ratio() * loss_difference.error; }
};
/// REQUIRES: at least one.
Comparison comparison_of(std::span<const RowDifference> differences);

/// Whether both have the same tokens: as many logits, and the same ids for `text`, of which `a` has
/// `a_windows`. `name`: that of the text.
Result<void> check_same_tokens(const Engine& a, const TextWindows& a_windows, const Engine& b,
                               std::string_view text, std::string_view name);

/// REQUIRES: check_same_tokens(), and engines that were opened for the logits of every token.
Result<Comparison> compare_models(Engine& a, Engine& b, const TextWindows& text,
                                  const PerplexityOptions& options);

}  // namespace tokamak
