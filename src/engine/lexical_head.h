// The layer that gives each token of a text a weight for matching words, beside its embedding: y =
// max(w h + b, 0) of the last hidden states. A token that comes again has its largest weight, and
// those that stand around every text have none. Reference: FlagEmbedding, BGEM3FlagModel;
// arXiv:2402.03216.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "formats/tensor_file.h"
#include "tokamak/embedding.h"

namespace tokamak {

inline constexpr std::string_view kLexicalWeight = "sparse_linear.weight",
                                  kLexicalBias = "sparse_linear.bias";

struct LexicalHead {
  std::vector<float> weight;  // for each number of a hidden state
  float bias = 0;
};

/// Nothing where the checkpoint has no such layer. Errors: one of another shape or type.
Result<std::optional<LexicalHead>> read_lexical_head(const TensorFile& file, uint32_t hidden);

/// The weight of each row of `rows`.
std::vector<float> lexical_weights(const LexicalHead& head, std::span<const float> rows);

/// The largest weight of each of the ids; `weights` has one for each. `counts`: whether an id
/// belongs to the text.
SparseVector sparse_vector(std::span<const uint32_t> ids, std::span<const float> weights,
                           const std::function<bool(uint32_t)>& counts);

}  // namespace tokamak
