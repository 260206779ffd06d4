// The tokens that steer Whisper, as generation_config.json numbers them, and which tokens may come
// next.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/description.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {

struct WhisperTokens {
  uint32_t start = 0, end = 0;
  uint32_t no_timestamps = 0, no_speech = 0;
  /// 0.00 s; those after it count on in steps of kSecondsPerTimestamp.
  uint32_t first_timestamp = 0;
  std::map<std::string, uint32_t> languages;  // as "en"; none: the model knows English alone
  std::optional<uint32_t> transcribe, translate;
  std::optional<uint32_t> previous;  // before what the text goes on from
  std::vector<uint32_t> suppressed, suppressed_first;
  std::optional<uint32_t> max_first_timestamp;  // in steps

  /// Reads generation_config.json. For a model without one, or with one that transformers has made
  /// of config.json, the tokenizer's names of tokens count; null: it has none. `start`: as
  /// config.json has it. Errors name the field.
  static Result<WhisperTokens> read(const ModelDescription& description, uint32_t start,
                                    uint32_t vocab, const Tokenizer* tokenizer = nullptr);

  bool is_timestamp(uint32_t id) const { return id >= first_timestamp; }
  /// Tokens below the first of those that steer are text.
  bool is_text(uint32_t id) const { return id < end; }
  /// Those of `ids` that are text.
  std::vector<uint32_t> text_ids(std::span<const uint32_t> ids) const;

  /// The language whose token has the largest logit after the first token. REQUIRES: languages.
  const std::string& language_of(std::span<const float> logits) const;
  /// How probable it is that nobody speaks, by the same logits.
  double no_speech_prob(std::span<const float> logits) const;

  /// Makes the logits of tokens that may not follow `written` minus infinity. With `timestamps` the
  /// text begins with one; they come in pairs, one at the end of what is said and one at the
  /// beginning of what comes next, never go back, and come where they are together more probable
  /// than any text.
  void forbid(std::span<const uint32_t> written, bool timestamps, std::span<float> logits) const;

 private:
  void read_names_of(const Tokenizer& tokenizer, uint32_t vocab);
  void forbid_by_timestamps(std::span<const uint32_t> written, std::span<float> logits) const;
};

inline constexpr double kSecondsPerTimestamp = 0.02;

}  // namespace tokamak
