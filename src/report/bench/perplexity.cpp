#include "report/bench/perplexity.h"

#include <algorithm>
#include <limits>

#include "base/log_sum_exp.h"
#include "generate/sample/sampler.h"
#include "report/bench/bench.h"
#include "report/bench/each_row.h"

namespace tokamak {

Estimate estimate_of(std::span<const double> samples) {
  const MeanAndDeviation found = mean_of(samples);
  return {found.mean, found.deviation / std::sqrt(double(samples.size()))};
}

std::vector<uint32_t> TextWindows::window(size_t index) const {
  const auto first = ids.begin() + ptrdiff_t(index * size);
  std::vector<uint32_t> tokens(first, first + ptrdiff_t{size});
  if (begin) tokens.front() = *begin;
  return tokens;
}

Result<TextWindows> windows_of(const Engine& engine, std::string_view text, std::string_view name) {
  TOK_TRY(const Tokenizer* tokenizer, engine.tokenizer());
  TextWindows windows{.ids = {}, .begin = {}, .size = engine.compiled().context};
  // Whatever looks like a special token is a part of the text here.
  TOK_TRY(windows.ids, tokenizer->encode(text, {.parse_special = false}));
  TOK_TRY(const std::vector<uint32_t> added, tokenizer->encode(""));
  if (!added.empty() && !windows.ids.empty() && added.front() == windows.ids.front()) {
    windows.begin = added.front();
  }
  if (windows.count() < 2) {
    return invalid_input(
        "{} has {} tokens, expected at least {}: two windows of {} (see --context).", name,
        windows.ids.size(), 2 * uint64_t{windows.size}, windows.size);
  }
  for (const uint32_t id : windows.ids) {
    if (id < engine.compiled().facts.vocab) continue;
    return invalid_input("{}: the tokenizer gives id {}, but the model has logits for {} tokens.",
                         engine.files().name, id, engine.compiled().facts.vocab);
  }
  return windows;
}

Result<double> token_loss(std::span<const float> logits, uint32_t id) {
  TOK_TRY(greedy_token(logits));
  if (std::isnan(logits[id])) return std::numeric_limits<double>::infinity();
  return log_sum_exp(logits) - double(logits[id]);
}

Result<std::span<const float>> counted_rows(Session& session, std::span<const uint32_t> window,
                                            const std::function<bool()>& cancelled) {
  // Two steps, so that no more logits are kept than count; those of the last token predict nothing.
  const size_t uncounted = window.size() / 2;
  TOK_TRY(session.feed(window.first(uncounted), cancelled));
  return session.feed(window.subspan(uncounted, window.size() - uncounted - 1), cancelled);
}

Result<PerplexityReport> measure_perplexity(Engine& engine, const TextWindows& text,
                                            const PerplexityOptions& options) {
  const size_t vocab = engine.compiled().facts.vocab, total = options.count_of(text);
  const uint32_t predicted = text.predicted();
  PerplexityReport report;
  std::vector<double> losses;
  for (; report.windows < total; ++report.windows) {
    const std::vector<uint32_t> window = text.window(report.windows);
    TOK_TRY(Session session, engine.start());
    TOK_TRY(const std::span<const float> rows, counted_rows(session, window, options.cancelled));
    const size_t before = losses.size();
    losses.resize(before + predicted);
    const auto status = for_each_row(predicted, [&](size_t row) -> Result<void> {
      const uint32_t id = window[window.size() - predicted + row];
      TOK_TRY(losses[before + row], token_loss(rows.subspan(row * vocab, vocab), id));
      return {};
    });
    if (!status) return Failure(status.error().within(engine.files().name));
    report.perplexity.loss = estimate_of(losses);
    if (options.progress) options.progress(report.windows + 1, total, report.perplexity.value());
  }
  report.tokens = losses.size();
  return report;
}

}  // namespace tokamak
