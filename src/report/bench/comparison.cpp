#include "report/bench/comparison.h"

#include <algorithm>
#include <limits>

#include "base/log_sum_exp.h"
#include "generate/sample/sampler.h"
#include "report/bench/each_row.h"

namespace tokamak {
namespace {

/// The sum of p_a (log p_a - log p_b); `a_sum` and `b_sum`: log_sum_exp() of the rows.
double divergence_of(std::span<const float> a, double a_sum, std::span<const float> b,
                     double b_sum) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) continue;  // a token that A never gives
    const double log_a = double(a[i]) - a_sum, probability = std::exp(log_a);
    if (probability == 0) continue;
    if (!std::isfinite(b[i])) return std::numeric_limits<double>::infinity();
    sum += probability * (log_a - (double(b[i]) - b_sum));
  }
  // Rounding leaves less than nothing where there is no difference.
  return std::max(sum, 0.0);
}

/// One of the fields of each position.
template <typename Get>
std::vector<double> column(std::span<const RowDifference> differences, Get get) {
  std::vector<double> values(differences.size());
  std::ranges::transform(differences, values.begin(), get);
  return values;
}

}  // namespace

Result<RowDifference> row_difference(std::span<const float> a, std::span<const float> b,
                                     uint32_t id) {
  RowDifference found;
  TOK_TRY(found.a_loss, token_loss(a, id));
  TOK_TRY(found.b_loss, token_loss(b, id));
  TOK_TRY(const uint32_t a_top, greedy_token(a));
  TOK_TRY(const uint32_t b_top, greedy_token(b));
  found.has_same_top = a_top == b_top;
  found.divergence = divergence_of(a, log_sum_exp(a), b, log_sum_exp(b));
  return found;
}

double quantile_of(std::span<const double> sorted, double share) {
  const double place = share * double(sorted.size() - 1);
  const auto below = size_t(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  if (sorted[below] == sorted[above]) return sorted[below];  // infinite ones, too
  return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
}

Comparison comparison_of(std::span<const RowDifference> differences) {
  using Row = RowDifference;
  Comparison result;
  result.tokens = differences.size();
  result.a.loss = estimate_of(column(differences, [](const Row& one) { return one.a_loss; }));
  result.b.loss = estimate_of(column(differences, [](const Row& one) { return one.b_loss; }));
  result.loss_difference =
      estimate_of(column(differences, [](const Row& one) { return one.b_loss - one.a_loss; }));
  result.same_top =
      estimate_of(column(differences, [](const Row& one) { return one.has_same_top ? 1.0 : 0.0; }));
  std::vector<double> divergences =
      column(differences, [](const Row& one) { return one.divergence; });
  result.divergence = estimate_of(divergences);
  std::ranges::sort(divergences);
  result.divergence_99 = quantile_of(divergences, 0.99);
  result.largest_divergence = divergences.back();
  return result;
}

Result<void> check_same_tokens(const Engine& a, const TextWindows& a_windows, const Engine& b,
                               std::string_view text, std::string_view name) {
  constexpr const char* kExpected = "only models with the same tokens can be compared";
  const uint32_t a_vocab = a.compiled().facts.vocab, b_vocab = b.compiled().facts.vocab;
  if (a_vocab != b_vocab) {
    return invalid_input("{} has logits for {} tokens and {} for {}: {}.", a.files().name, a_vocab,
                         b.files().name, b_vocab, kExpected);
  }
  TOK_TRY(const TextWindows b_windows, windows_of(b, text, name));
  const auto [own, other] = std::ranges::mismatch(a_windows.ids, b_windows.ids);
  if (own == a_windows.ids.end() && other == b_windows.ids.end()) return {};
  return invalid_input("{}: token {} is not the same to {} and {}: {}.", name,
                       own - a_windows.ids.begin(), a.files().name, b.files().name, kExpected);
}

Result<Comparison> compare_models(Engine& a, Engine& b, const TextWindows& text,
                                  const PerplexityOptions& options) {
  const size_t vocab = a.compiled().facts.vocab, total = options.count_of(text);
  const uint32_t predicted = text.predicted();
  std::vector<RowDifference> differences;
  double divergence = 0;
  for (size_t i = 0; i < total; ++i) {
    const std::vector<uint32_t> window = text.window(i);
    TOK_TRY(Session a_session, a.start());
    TOK_TRY(const auto a_rows, counted_rows(a_session, window, options.cancelled));
    TOK_TRY(Session b_session, b.start());
    TOK_TRY(const auto b_rows, counted_rows(b_session, window, options.cancelled));
    const size_t before = differences.size();
    differences.resize(before + predicted);
    TOK_TRY(for_each_row(predicted, [&](size_t row) -> Result<void> {
      const uint32_t id = window[window.size() - predicted + row];
      TOK_TRY(differences[before + row], row_difference(a_rows.subspan(row * vocab, vocab),
                                                        b_rows.subspan(row * vocab, vocab), id));
      return {};
    }));
    for (size_t row = before; row < differences.size(); ++row) {
      divergence += differences[row].divergence;
    }
    if (options.progress) options.progress(i + 1, total, divergence / double(differences.size()));
  }
  Comparison result = comparison_of(differences);
  result.windows = total;
  return result;
}

}  // namespace tokamak
