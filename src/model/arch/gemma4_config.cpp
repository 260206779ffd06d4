#include "model/arch/gemma4_config.h"

#include <tuple>
#include <utility>

#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

constexpr const char* kPle = "hidden_size_per_layer_input";

/// rope_parameters of the full layers where there are none.
const Json kFullRope{Json::Object{{"rope_type", "proportional"}, {"partial_rotary_factor", 0.25}}};

/// head_dim and num_key_value_heads of the full layers: in the older spelling in fields of their
/// own, in the newer in per_layer_config, which lists what single layers have.
Result<void> read_full_heads(ConfigReader& config, Gemma4Config& c) {
  Gemma4Attention& full = c.full_layers;
  if (!config.has("per_layer_config")) {
    full.head_dim = config.size("global_head_dim", 512);
    if (full.k_is_v) full.kv_heads = config.size("num_global_key_value_heads", full.kv_heads);
    return config.status();
  }
  using Heads = std::pair<uint32_t, uint32_t>;  // head_dim, kv_heads
  const Heads usual{c.sliding_layers.head_dim, c.sliding_layers.kv_heads};
  std::vector<Heads> heads(c.layers, usual);
  const ConfigReader entries = config.at("per_layer_config");
  TOK_TRY(entries.status());
  for (const auto& [key, value] : config.find("per_layer_config")->as_object()) {
    const bool is_number =
        !key.empty() && key.size() <= 4 && key.find_first_not_of("0123456789") == std::string::npos;
    const uint32_t layer = is_number ? uint32_t(std::stoul(key)) : c.layers;
    if (layer >= c.layers || !value.is_object()) {
      return invalid_input("{}: expected an object under the number of a layer below {}.",
                           entries.path(key), c.layers);
    }
    for (const auto& [name, unused] : value.as_object()) {
      if (name == "head_dim" || name == "num_key_value_heads") continue;
      return unsupported("{}: {} is not known; expected head_dim and num_key_value_heads.",
                         entries.path(key), name);
    }
    ConfigReader entry = entries.at(key);
    heads[layer] = {entry.size("head_dim", usual.first),
                    entry.size("num_key_value_heads", usual.second)};
    TOK_TRY(entry.status());
  }
  std::tie(full.head_dim, full.kv_heads) = heads.back();
  for (uint32_t i = 0; i < c.layers; ++i) {
    if (heads[i] == (c.full[i] ? heads.back() : usual)) continue;
    return unsupported(
        "{}: layer {} differs from others of its type; this engine needs them alike.",
        config.path("per_layer_config"), i);
  }
  return {};
}

Result<void> read_ropes(const ConfigReader& config, Gemma4Config& c) {
  const ConfigReader parameters = config.at("rope_parameters");
  TOK_TRY(parameters.status());
  ConfigReader full = config.has("rope_parameters") ? parameters.at("full_attention")
                                                    : ConfigReader(kFullRope, parameters.where());
  ConfigReader sliding = parameters.at("sliding_attention");
  c.full_layers.rope = read_rope(full, 1e6, c.full_layers.head_dim, c.max_context);
  c.sliding_layers.rope = read_rope(sliding, 1e4, c.sliding_layers.head_dim, c.max_context);
  TOK_TRY(full.status());
  return sliding.status();
}

Result<void> read_sharing(ConfigReader& config, Gemma4Config& c) {
  const uint32_t shared = config.count("num_kv_shared_layers", 0);
  TOK_TRY(config.status());
  if (shared >= c.layers) {
    return invalid_input("{} is {}, expected less than num_hidden_layers ({}).",
                         config.path("num_kv_shared_layers"), shared, c.layers);
  }
  c.shared_from = c.layers - shared;
  for (uint32_t i = c.shared_from; i < c.layers; ++i) {
    if (c.kv_layer(i) == i) {
      return invalid_input("{} is {}: no layer before {} is of the type of layer {}.",
                           config.path("num_kv_shared_layers"), shared, c.shared_from, i);
    }
  }
  return {};
}

}  // namespace

uint32_t Gemma4Config::kv_layer(uint32_t layer) const {
  for (uint32_t i = shared_from; layer >= shared_from && i-- > 0;) {
    if (full[i] == full[layer]) return i;
  }
  return layer;
}

Result<Gemma4Config> read_gemma4(const ConfigReader& whole) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  Gemma4Config c{};
  c.vocab = config.size("vocab_size", 262144);
  c.hidden = config.size("hidden_size", 2304);
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads", 8);
  c.ffn = config.size("intermediate_size", 9216);
  c.max_context = config.size("max_position_embeddings", 131072);
  c.wide_shared = config.flag("use_double_wide_mlp", false);
  c.ple = config.mentions(kPle) && !config.has(kPle) ? 0 : config.count(kPle, 256);
  c.ple_vocab = config.size("vocab_size_per_layer_input", 262144);
  c.pad = config.count("pad_token_id", 0);
  c.eps = float(config.positive("rms_norm_eps", 1e-6));
  c.logit_cap = read_cap(config, "final_logit_softcapping");
  c.bias = config.flag("attention_bias", false);
  c.tied = read_tied(whole, config, true);
  c.activation = read_activation(config, "hidden_activation", "gelu_pytorch_tanh");
  c.sliding_layers = {.head_dim = config.size("head_dim", 256),
                      .kv_heads = config.size("num_key_value_heads", 4),
                      .window = config.size("sliding_window", 512),
                      .k_is_v = false,
                      .rope = {}};
  c.full_layers = c.sliding_layers;
  c.full_layers.window = 0;
  c.full_layers.k_is_v = config.flag("attention_k_eq_v", false);
  const bool sparse = config.flag("enable_moe_block", false);
  // "vision": only the tokens of an image see those after them.
  if (config.word("use_bidirectional_attention", "vision") != "vision") {
    return unsupported("{} is set; this engine runs Gemma 4 with causal attention.",
                       config.path("use_bidirectional_attention"));
  }
  TOK_TRY(config.status());
  if (c.ple > 65536) {
    return invalid_input("{} is {}, expected at most 65536.", config.path(kPle), c.ple);
  }
  if (c.ple != 0 && c.ple_vocab < c.vocab) {
    return invalid_input("{} is {}, expected at least vocab_size ({}).",
                         config.path("vocab_size_per_layer_input"), c.ple_vocab, c.vocab);
  }
  TOK_TRY(c.full, read_full_layers(config, c.layers, 6));
  c.full.back() = true;  // as the reference: whatever the list says
  TOK_TRY(read_full_heads(config, c));
  TOK_TRY(check_heads(config, c.heads, c.full_layers.kv_heads, c.full_layers.head_dim));
  TOK_TRY(check_heads(config, c.heads, c.sliding_layers.kv_heads, c.sliding_layers.head_dim));
  TOK_TRY(read_sharing(config, c));
  if (sparse) {
    TOK_TRY(c.experts, read_experts(config, "num_experts", "top_k_experts"));
  }
  TOK_TRY(read_ropes(config, c));
  return c;
}

}  // namespace tokamak
