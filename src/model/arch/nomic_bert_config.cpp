#include "model/arch/nomic_bert.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

using Config = NomicConfig;

/// The fields that published models leave as they are.
Result<void> check_plain(ConfigReader& config) {
  for (const char* name :
       {"prenorm", "parallel_block", "use_rms_norm", "causal", "rotary_emb_interleaved"}) {
    if (config.flag(name, false)) {
      config.reject({ErrorCode::kUnsupported,
                     fmt::format("{} is true; this engine knows false.", config.path(name))});
    }
  }
  if (config.has("rotary_emb_scale_base")) {
    config.reject({ErrorCode::kUnsupported, fmt::format("{} is not null; this engine knows null.",
                                                        config.path("rotary_emb_scale_base"))});
  }
  return config.status();
}

/// Experts in the second of every `moe_every_n_layers` blocks; none without that field.
Result<std::optional<Mixture>> read_mixture(ConfigReader& config, const Config& c) {
  const uint32_t period =
      config.has("moe_every_n_layers") ? config.count("moe_every_n_layers", 0) : 0;
  if (period == 0) return std::nullopt;
  TOK_TRY(refuse_flag(config, "expert_choice_router", "with tokens that choose their experts"));
  for (const auto& [name, usual] :
       {std::pair("num_shared_experts", 0u), std::pair("ffn_div", 1u)}) {
    const uint32_t found = config.count(name, usual);
    if (found == usual) continue;
    return unsupported("{} is {}; this engine runs this architecture with {}.", config.path(name),
                       found, usual);
  }
  Mixture mixture{.sizes = {},
                  .route = {.normalize = config.flag("moe_normalize_expert_weights", false)},
                  .sparse = {},
                  .form = {.plain = true},
                  .router = "mlp.router.layer"};
  TOK_TRY(mixture.sizes,
          read_experts(config, "num_experts", "moe_top_k", ExpertSizes{8, 2, c.ffn}));
  mixture.sizes.ffn = c.ffn;
  for (uint32_t i = 0; i < c.layers; ++i) mixture.sparse.push_back(i % period == 1);
  return mixture;
}

/// With GPT-2's names.
Result<Config> read_older(ConfigReader& config) {
  TOK_TRY(check_plain(config));
  Config c;
  c.hidden = config.size("n_embd");
  c.layers = config.size("n_layer");
  c.heads = config.size("n_head");
  c.ffn = config.has("n_inner") ? config.size("n_inner") : 4 * c.hidden;
  c.max_context = config.size("n_positions", 2048);
  // Beyond them, the reference turns by other angles where it has such a factor.
  if (config.has("rotary_scaling_factor")) {
    c.max_context = std::min(c.max_context, config.size("max_trained_positions", 2048));
  }
  c.eps = float(config.positive("layer_norm_epsilon", 1e-12));
  c.qkv_bias = config.flag("qkv_proj_bias", false);
  c.up_bias = config.flag("mlp_fc1_bias", false);
  c.down_bias = config.flag("mlp_fc2_bias", false);
  const std::string activation = config.word("activation_function", "swiglu");
  if (activation == "swiglu") {
    c.activation = Activation::kSilu;
  } else if (activation == "gelu") {
    c.gated = false;
  } else if (activation != "geglu") {
    config.reject({ErrorCode::kUnsupported,
                   fmt::format("{} is \"{}\"; this engine knows swiglu, geglu and gelu.",
                               config.path("activation_function"), activation)});
  }
  TOK_TRY(c.mixture, read_mixture(config, c));
  if (!c.mixture || !c.gated) return c;
  return unsupported("{} is \"{}\"; this engine runs this architecture's experts with gelu.",
                     config.path("activation_function"), activation);
}

Result<Config> read_newer(ConfigReader& config) {
  Config c;
  TOK_TRY(static_cast<EncoderConfig&>(c), read_bert_fields(config, 0));
  return c;
}

}  // namespace

Result<NomicConfig> read_nomic_bert(ConfigReader config) {
  const bool is_older = config.has("n_embd");
  TOK_TRY(Config c, is_older ? read_older(config) : read_newer(config));
  c.vocab = config.size("vocab_size");
  c.types = config.size("type_vocab_size", 2);
  const double theta = config.positive("rotary_emb_base", 1000);
  const double part = config.positive("rotary_emb_fraction", 1.0);
  TOK_TRY(config.status());
  const uint32_t head_dim = read_head_dim(config, c.hidden, c.heads);
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.heads, head_dim));
  TOK_TRY(const uint32_t rotary, rotary_size(config, part, head_dim));
  ConfigReader fields = rope_fields(config);
  c.rope = read_rope(fields, theta, rotary, c.max_context);
  TOK_TRY(fields.status());
  return c;
}

}  // namespace tokamak
