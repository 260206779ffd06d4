// The vectors that an embedding model makes of the last hidden states instead of logits.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tokamak {

/// One row for the text: the mean of all tokens, the last token's or the first's.
enum class Pooling : uint8_t { kMean, kLast, kFirst };

/// y = tanh(x Wᵀ + bias), bias and tanh where set, after the pooling.
struct DenseLayer {
  std::string folder;  // the checkpoint has folder + "/linear.weight" and, with `bias`, ".bias"
  uint32_t inputs = 0, outputs = 0;
  bool bias = false, tanh = false;
};

struct EmbeddingHead {
  Pooling pooling = Pooling::kMean;
  std::vector<DenseLayer> dense;
};

}  // namespace tokamak
