// The model as a store of memories uses it, so that tests can answer in its place.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak::memory {

/// How many tokens a model makes of a text.
using CountTokens = std::function<Result<size_t>(std::string_view text)>;

/// Many models put other words before what is asked than before what may answer.
enum class Side : uint8_t { kDocument, kQuery };

/// A model that makes vectors of texts.
struct Embedder {
  std::string name, pooling;  // to open it again, and for people
  size_t max_tokens = 0;      // most that count() may say of a text
  CountTokens count;          // without what the model puts around a text
  /// One vector of unit length for each text, all as long.
  std::function<Result<std::vector<std::vector<float>>>(std::span<const std::string> texts, Side)>
      embed;
  std::vector<float> known_fingerprint;  // what fingerprint() gave earlier; may be empty
};

/// How well each document answers the query; more is better.
using Rerank = std::function<Result<std::vector<float>>(std::string_view query,
                                                        std::span<const std::string> documents)>;

/// The identity of an embedder: its vectors of a few fixed texts on either side, less their mean,
/// one after the other.
Result<std::vector<float>> fingerprint(const Embedder& embedder);
/// How long the vectors are that a fingerprint is made of.
uint32_t dimension_of(std::span<const float> fingerprint);
/// Whether vectors of the two may be compared: another type of the same weights is the same model,
/// other pooling or another prefix is not.
bool is_same_model(std::span<const float> one, std::span<const float> other);

}  // namespace tokamak::memory
