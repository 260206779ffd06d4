// The fields of config.json for a Gemma 4 text model, in either place: at the top or in
// text_config. Reference: transformers/models/gemma4/configuration_gemma4.py.
#pragma once
#include "model/config.h"
#include "model/experts.h"

namespace tokamak {

/// The values that full layers share, and those that sliding ones do.
struct Gemma4Attention {
  uint32_t head_dim, kv_heads;
  uint32_t window;  // 0: full
  bool k_is_v;      // values are the keys' projection, before their norm and rotation
  RopeTable rope;
};

struct Gemma4Config {
  uint32_t vocab, hidden, layers, heads, ffn, max_context;
  uint32_t shared_from;     // the layers from here on read the cache of an earlier one
  bool wide_shared;         // their MLPs are twice as wide
  uint32_t ple, ple_vocab;  // per-layer embeddings: 0: none
  uint32_t pad;             // the token whose per-layer embedding images have
  float eps, logit_cap;     // 0: no cap
  bool bias, tied;
  Activation activation;
  std::vector<bool> full;  // per layer
  Gemma4Attention full_layers, sliding_layers;
  ExpertSizes experts;  // 0 of them: dense

  const Gemma4Attention& attention(uint32_t layer) const {
    return full[layer] ? full_layers : sliding_layers;
  }
  /// The layer whose keys and values this one reads: itself, or for a shared one the last of its
  /// kind that has its own.
  uint32_t kv_layer(uint32_t layer) const;
  uint32_t ffn_of(uint32_t layer) const {
    return wide_shared && layer >= shared_from ? 2 * ffn : ffn;
  }
};

/// Absent fields have the defaults of Gemma4TextConfig.
Result<Gemma4Config> read_gemma4(const ConfigReader& config);

}  // namespace tokamak
