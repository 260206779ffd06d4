// Fields of config.json that several decoders read the same way.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"
#include "graph/ops.h"
#include "model/config.h"

namespace tokamak {

/// Most layers of a model: loops and lists are made from their number.
inline constexpr uint32_t kMaxLayers = 4096;
/// num_hidden_layers or what it is called, at most kMaxLayers.
uint32_t read_layers(ConfigReader& config, std::string_view name = "num_hidden_layers");

/// tie_word_embeddings. Where the text is a part of a multimodal config, `whole`, the reference
/// reads it at the top; only where that is silent does the `text` decide.
bool read_tied(const ConfigReader& whole, ConfigReader& text, bool otherwise);

/// An activation by its Hugging Face name; an unknown one is kUnsupported.
Activation read_activation(ConfigReader& config, std::string_view name, std::string otherwise);

/// Refuses an activation that is not gelu_pytorch_tanh, which a config without the field has.
/// Errors: those of the fields read before, too.
Result<void> expect_gelu_tanh(ConfigReader& config, std::string_view name);

/// Refuses a field that is true: "config.json: x is true; this engine runs this architecture
/// {how}."
Result<void> refuse_flag(ConfigReader& config, std::string_view name, std::string_view how);

/// A cap on scores or logits; 0, which is none, when the field is absent or null.
float read_cap(ConfigReader& config, std::string_view name);

/// kv_heads divides heads, head_dim is even and at most 1024, and the products stay small.
Result<void> check_heads(const ConfigReader& config, uint32_t heads, uint32_t kv_heads,
                         uint32_t head_dim);

/// head_dim, by default hidden / heads, which must then divide.
uint32_t read_head_dim(ConfigReader& config, uint32_t hidden, uint32_t heads);

/// Per layer: full attention or, false, what layer_types calls `other`; without it every
/// `period`-th layer is full. An unknown layer type or a list of another length is an error.
Result<std::vector<bool>> read_full_layers(const ConfigReader& config, uint32_t layers,
                                           uint32_t period,
                                           std::string_view other = "sliding_attention");

/// Reads like read_full_layers, but without layer_types the full layers are those that
/// full_attn_idxs lists; without either, all.
Result<std::vector<bool>> read_listed_layers(ConfigReader& config, uint32_t layers,
                                             std::string_view other);

/// The taps of a short convolution, 2 to 64.
uint32_t read_taps(ConfigReader& config, std::string_view name, uint32_t otherwise);

/// The windows of Qwen's configs, 0 for full attention: with use_sliding_window, sliding_window in
/// the layers from max_window_layers on, or where layer_types says.
Result<std::vector<uint32_t>> read_optional_windows(ConfigReader& config, uint32_t layers);

/// decoder_start_token_id, which the reader refuses where the vocabulary does not have it.
uint32_t start_token(ConfigReader& config, uint32_t otherwise, uint32_t vocab);

/// The first of `prefixes` under which the checkpoint has `tensor`, which tells of `what`.
Result<std::string> find_prefix(const TensorFile& file,
                                std::initializer_list<std::string_view> prefixes,
                                std::string_view tensor = "embed_tokens.weight",
                                std::string_view what = "token embedding");

}  // namespace tokamak
