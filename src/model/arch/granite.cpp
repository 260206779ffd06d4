// Granite 3 and 4.
#include "model/arch/mamba2.h"
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

void read_factors(ConfigReader& config, DecoderSpec& c) {
  c.embedding_factor = float(config.positive("embedding_multiplier", 1.0));
  c.residual_factor = float(config.positive("residual_multiplier", 1.0));
  c.score_scale = float(config.positive("attention_multiplier", 1.0));
  c.logits_factor = float(1.0 / config.positive("logits_scaling", 1.0));
}

}  // namespace

// Granite 3. Reference: transformers/models/granite/modeling_granite.py.
//
// Otherwise than in Llama embeddings, scores, what is added to x and logits have factors.
Result<DecoderSpec> read_granite(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "GraniteForCausalLM", {}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  read_factors(config, c);
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

namespace {

/// Per layer "mamba" or, under either of two names, attention; all are the first where the
/// field is absent.
Result<std::vector<Mixer>> read_mixers(ConfigReader& config, uint32_t layers) {
  std::vector<Mixer> mixers(layers, Mixer::kScan);
  if (!config.has("layer_types")) return mixers;
  const std::vector<std::string> types = config.words("layer_types");
  TOK_TRY(config.status());
  if (types.size() != layers) {
    return invalid_input("{} has {} entries, expected {} (num_hidden_layers).",
                         config.path("layer_types"), types.size(), layers);
  }
  for (uint32_t i = 0; i < layers; ++i) {
    if (types[i] == "mamba") continue;
    if (types[i] != "attention" && types[i] != "full_attention") {
      return unsupported("{}: entry {} is \"{}\"; expected attention or mamba.",
                         config.path("layer_types"), i, types[i]);
    }
    mixers[i] = Mixer::kAttention;
  }
  return mixers;
}

/// Experts beside an MLP that every token takes, or that alone.
Result<void> read_mlp(ConfigReader& config, DecoderSpec& c) {
  const uint32_t shared = config.count("shared_intermediate_size", 1024);
  const uint32_t experts = config.count("num_local_experts", 8);
  TOK_TRY(config.status());
  if (experts == 0) {
    c.ffn = config.size("shared_intermediate_size", 1024);
    c.names.mlp = "shared_mlp.";
    return config.status();
  }
  Mixture mixture{.route = {},
                  .sparse = std::vector<bool>(c.layers, true),
                  .router = "block_sparse_moe.router.layer",
                  .experts = "block_sparse_moe",
                  .shared = shared,
                  .shared_expert = "shared_mlp."};
  TOK_TRY(mixture.sizes, read_experts(config, "num_local_experts", "num_experts_per_tok",
                                      ExpertSizes{.experts = 8, .top_k = 2, .ffn = c.ffn}));
  c.mixture = std::move(mixture);
  return {};
}

}  // namespace

// Granite 4. Reference: transformers/models/granitemoehybrid/modeling_granitemoehybrid.py.
//
// Otherwise than in Granite 3 most layers have no attention but the selective scan of Mamba-2; the
// others may know no positions; the MLP is one of experts beside one for all tokens, or that alone.
Result<Mamba2Config> read_granite_hybrid(const ConfigReader& whole) {
  ConfigReader config = whole;
  Mamba2Config c{};
  TOK_TRY(static_cast<DecoderSpec&>(c), read_decoder(config, "GraniteMoeHybridForCausalLM", {}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  read_factors(config, c);
  const std::string positions = config.word("position_embedding_type", "rope");
  TOK_TRY(config.status());
  TOK_TRY(read_mlp(config, c));
  TOK_TRY(c.mixers, read_mixers(config, c.layers));
  TOK_TRY(read_scan(config, c, read_inner(config, c.hidden)));
  c.gate_norm = GateNorm::kAfter;
  if (!c.from_gguf) {
    c.joined_gate_up = true;
    c.names.gate_up = "input_linear";
    c.names.glu_down = "output_linear";
  }
  TOK_TRY(read_decoder_rope(config, c));
  if (positions == "nope") {
    c.ropes = {still(c.head_dim)};
  } else if (positions != "rope") {
    return unsupported("{} is \"{}\"; this engine knows rope and nope.",
                       config.path("position_embedding_type"), positions);
  }
  return c;
}

}  // namespace tokamak
