// The quality of a model as a number: how well it predicts a text.
//
// The text is cut as llama-perplexity cuts it, so that figures may stand beside each other: into
// windows of a fixed number of tokens, each of them run from an empty cache. The first half of a
// window is only read, so that whatever is predicted has at least that much before it.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace tokamak {

/// A mean and its standard error.
struct Estimate {
  double mean = 0, error = 0;
};
/// REQUIRES: at least one sample.
Estimate estimate_of(std::span<const double> samples);

/// How well a text was predicted.
struct Perplexity {
  Estimate loss;  // negative log-likelihood of a token, in nats

  double value() const { return std::exp(loss.mean); }
  double error() const { return value() * loss.error; }
};

/// A text in windows of `size` tokens; the rest of it is left out.
struct TextWindows {
  std::vector<uint32_t> ids;  // of the whole text
  /// Takes the place of every window's first token: that which the tokenizer puts before a text.
  std::optional<uint32_t> begin;
  uint32_t size = 0;

  size_t count() const { return ids.size() / size; }
  std::vector<uint32_t> window(size_t index) const;
  /// Tokens at the start of a window that nobody counts.
  uint32_t uncounted() const { return size / 2; }
  /// The tokens of a window that follow a counted one, and so are predicted.
  uint32_t predicted() const { return size - uncounted() - 1; }
};

/// The windows of a text, as many tokens each as `engine` has positions. Errors name `name`: a text
/// shorter than two windows, a model without a tokenizer.
Result<TextWindows> windows_of(const Engine& engine, std::string_view text, std::string_view name);

/// The negative log-likelihood of token `id`, in nats. Errors: logits that are no numbers.
Result<double> token_loss(std::span<const float> logits, uint32_t id);

/// The logits that predict the counted tokens of a window, a row for each, valid until the next
/// call. REQUIRES: nothing was fed.
Result<std::span<const float>> counted_rows(Session& session, std::span<const uint32_t> window,
                                            const std::function<bool()>& cancelled);

struct PerplexityOptions {
  size_t windows = 0;  // only the first ones; 0: all
  std::function<bool()> cancelled;
  /// Called after each window with the figure until then: the perplexity, or of two models the mean
  /// divergence.
  std::function<void(size_t done, size_t total, double so_far)> progress;

  size_t count_of(const TextWindows& text) const {
    return windows == 0 ? text.count() : std::min(windows, text.count());
  }
};

struct PerplexityReport {
  size_t windows = 0, tokens = 0;  // that counted
  Perplexity perplexity;
};

/// REQUIRES: the engine was opened for the logits of every token.
Result<PerplexityReport> measure_perplexity(Engine& engine, const TextWindows& text,
                                            const PerplexityOptions& options);

}  // namespace tokamak
