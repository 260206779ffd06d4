// Nemotron-H and Nemotron 3 Nano. Reference: transformers/models/nemotron_h/modeling_nemotron_h.py;
// arXiv:2504.03624.
//
// The differences from Llama:
//   a layer is one of attention without positions, the selective scan of Mamba-2, an MLP or experts
//   MLP and experts have no gate and square what is above 0
//   the scan's norm comes after its gate, in groups
#include <algorithm>

#include "model/arch/mamba2.h"

namespace tokamak {
namespace {

/// The kinds of layers by a letter each, or as newer configs list them.
std::vector<std::string> read_kinds(ConfigReader& config) {
  if (config.has("layers_block_type")) return config.words("layers_block_type");
  std::vector<std::string> kinds;
  for (const char letter : config.word("hybrid_override_pattern")) {
    kinds.push_back(letter == 'M'   ? "mamba"
                    : letter == '*' ? "attention"
                    : letter == '-' ? "mlp"
                    : letter == 'E' ? "moe"
                                    : std::string(1, letter));
  }
  return kinds;
}

/// The mixer of each layer, and which MLPs are experts.
Result<std::vector<bool>> read_mixers(ConfigReader& config, Mamba2Config& c) {
  const std::vector<std::string> kinds = read_kinds(config);
  TOK_TRY(config.status());
  const std::string_view field =
      config.has("layers_block_type") ? "layers_block_type" : "hybrid_override_pattern";
  if (kinds.size() != c.layers) {
    return invalid_input("{} has {} layers, expected {} (num_hidden_layers).", config.path(field),
                         kinds.size(), c.layers);
  }
  std::vector<bool> sparse;
  for (uint32_t i = 0; i < c.layers; ++i) {
    const std::string& kind = kinds[i];
    const bool is_mlp = kind == "mlp" || kind == "moe";
    if (!is_mlp && kind != "mamba" && kind != "attention") {
      return unsupported(
          "{}: layer {} is \"{}\"; expected M, *, - or E (mamba, attention, mlp or "
          "moe).",
          config.path(field), i, kind);
    }
    c.mixers.push_back(is_mlp ? Mixer::kMlp : kind == "mamba" ? Mixer::kScan : Mixer::kAttention);
    sparse.push_back(kind == "moe");
  }
  return sparse;
}

Result<void> read_mixture(ConfigReader& config, Mamba2Config& c, std::vector<bool> sparse) {
  if (config.has("moe_latent_size")) {
    return unsupported("{} is set; this engine runs experts of the whole width.",
                       config.path("moe_latent_size"));
  }
  Mixture mixture{.sizes = {},
                  .route = {},
                  .sparse = std::move(sparse),
                  .form = {.plain = true},
                  .router = "mixer.gate",
                  .experts = "mixer.experts",
                  .route_bias = "mixer.gate.e_score_correction_bias",
                  .shared_expert = "mixer.shared_experts."};
  TOK_TRY(mixture.sizes, read_experts(config, "n_routed_experts", "num_experts_per_tok"));
  TOK_TRY(mixture.route, read_sigmoid_route(config, mixture.sizes.experts));
  mixture.shared = config.count("moe_shared_expert_intermediate_size", 0);
  c.mixture = std::move(mixture);
  return config.status();
}

}  // namespace

Result<Mamba2Config> read_nemotron_h(const ConfigReader& whole) {
  ConfigReader config = whole;
  Mamba2Config c{};
  TOK_TRY(static_cast<DecoderSpec&>(c), read_decoder(config, "NemotronHForCausalLM",
                                                     {.kv_heads = 8,
                                                      .head_dim = 128,
                                                      .max_context = 4096,
                                                      .eps = 1e-5,
                                                      .eps_name = "layer_norm_epsilon",
                                                      .activation_name = "mlp_hidden_act",
                                                      .activation = "relu2"}));
  if (const std::string own = config.word("mamba_hidden_act", "silu"); own != "silu") {
    return unsupported("{} is \"{}\", expected silu.", config.path("mamba_hidden_act"), own);
  }
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  c.plain_mlp = c.one_part = true;
  c.names = {.embedding = "embeddings",
             .norm = "norm_f",
             .attention = "mixer.",
             .output = "mixer.o_proj",
             .up = "mixer.up_proj",
             .down = "mixer.down_proj"};
  c.norms.attention = "norm";
  c.scan = "mixer.";
  const uint64_t inner =
      uint64_t{config.size("mamba_num_heads", 128)} * config.size("mamba_head_dim", 64);
  TOK_TRY(read_scan(config, c, inner,
                    {.heads = "mamba_num_heads",
                     .head_dim = "mamba_head_dim",
                     .groups = "n_groups",
                     .states = "ssm_state_size",
                     .taps = "conv_kernel",
                     .conv_bias = "use_conv_bias",
                     .bias = "use_bias"}));
  c.gate_norm = GateNorm::kAfter;
  c.norm_groups = c.groups;
  TOK_TRY(std::vector<bool> sparse, read_mixers(config, c));
  const bool has_experts = std::ranges::find(sparse, true) != sparse.end();
  if (has_experts) TOK_TRY(read_mixture(config, c, std::move(sparse)));
  c.ropes = {still(c.head_dim)};
  return c;
}

}  // namespace tokamak
