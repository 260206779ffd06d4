// Falcon-H1. Reference: transformers/models/falcon_h1/modeling_falcon_h1.py; arXiv:2507.22448.
//
// The differences from Llama:
//   attention and the selective scan of Mamba-2 read one norm of x, and both are added to x
//   nearly everything has a factor. Those of what a product gives stand where no weights are stored
//   in blocks: with m before silu, silu(m (w x)) is silu(w (m x)), so that the norm before takes
//   it, and what it changes beside the gate is taken back where no activation is in between
#include <cmath>

#include "model/arch/mamba2.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

std::vector<double> read_list(ConfigReader& config, std::string_view name, size_t count) {
  return config.has(name) ? config.positives(name, count) : std::vector<double>(count, 1.0);
}

Result<void> read_factors(ConfigReader& config, Mamba2Config& c) {
  const auto one = [&](const char* name) { return config.positive(name, 1.0); };
  const double key = one("key_multiplier"), in = one("attention_in_multiplier");
  const double out = one("attention_out_multiplier"), scan_in = one("ssm_in_multiplier");
  const std::vector<double> zxbcdt = read_list(config, "ssm_multipliers", 5);
  const std::vector<double> mlp = read_list(config, "mlp_multipliers", 2);
  c.embedding_factor = float(one("embedding_multiplier"));
  c.logits_factor = float(one("lm_head_multiplier"));
  c.scan_factor = float(one("ssm_out_multiplier"));
  TOK_TRY(config.status());
  if (zxbcdt.size() != 5 || mlp.size() != 2) return config.status();
  const double gate = scan_in * zxbcdt[0];  // in the norm
  c.norms.attention_factor = float(gate);
  c.x_factor = float(zxbcdt[1] / zxbcdt[0]);
  c.b_factor = float(zxbcdt[2] / zxbcdt[0]);
  c.c_factor = float(zxbcdt[3] / zxbcdt[0]);
  c.dt_factor = float(zxbcdt[4] / zxbcdt[0]);
  const double attended = in / gate;
  c.score_scale = float(key * attended * attended / std::sqrt(double(c.head_dim)));
  c.attention_factor = float(attended * out);
  c.norms.mlp_factor = float(mlp[0]);
  c.mlp_factor = float(mlp[1] / mlp[0]);
  return {};
}

}  // namespace

Result<Mamba2Config> read_falcon_h1(const ConfigReader& whole) {
  ConfigReader config = whole;
  Mamba2Config c{};
  TOK_TRY(static_cast<DecoderSpec&>(c),
          read_decoder(config, "FalconH1ForCausalLM",
                       {.kv_heads = 8, .max_context = 8192, .eps = 1e-5}));
  c.names = {.norm = "final_layernorm", .mlp = "feed_forward."};
  c.norms.mlp = "pre_ff_layernorm";
  TOK_TRY(read_scan(config, c, read_inner(config, c.hidden)));
  // A bias would have no part in the factors of the norm before its product.
  for (const char* name : {"attention_bias", "mlp_bias", "mamba_proj_bias", "projectors_bias"}) {
    if (config.flag(name, false)) {
      return unsupported("{} is true; this engine runs Falcon-H1 without biases.",
                         config.path(name));
    }
  }
  if (!config.flag("mamba_use_mlp", true)) {
    return unsupported("{} is false; this engine runs Falcon-H1 with an MLP in every layer.",
                       config.path("mamba_use_mlp"));
  }
  const bool is_before = config.flag("mamba_norm_before_gate", true);
  if (config.flag("mamba_rms_norm", false)) {
    c.gate_norm = is_before ? GateNorm::kBefore : GateNorm::kAfter;
    c.norm_groups = c.groups;
  }
  c.mixers.assign(c.layers, Mixer::kBoth);
  TOK_TRY(read_factors(config, c));
  TOK_TRY(read_decoder_rope(config, c, 1e5));
  return c;
}

}  // namespace tokamak
