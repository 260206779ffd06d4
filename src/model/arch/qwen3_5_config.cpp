#include "model/arch/qwen3_5.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

Result<void> read_delta(ConfigReader& config, Qwen35Config& c) {
  const auto size = [&](const char* name, uint32_t otherwise) {
    constexpr uint32_t kMax = 1024;
    const uint32_t found = config.size(name, otherwise);
    if (found <= kMax) return found;
    config.reject({ErrorCode::kInvalidInput,
                   fmt::format("{} is {}, expected at most {}.", config.path(name), found, kMax)});
    return kMax;
  };
  c.key_heads = size("linear_num_key_heads", 16);
  c.value_heads = size("linear_num_value_heads", 32);
  c.dk = size("linear_key_head_dim", 128);
  c.dv = size("linear_value_head_dim", 128);
  c.taps = read_taps(config, "linear_conv_kernel_dim", 4);
  c.tiled = config.flag("linear_attention_as_gguf", false);
  c.negated = config.flag("linear_rates_as_gguf", c.tiled);
  TOK_TRY(config.status());
  if (c.value_heads % c.key_heads == 0) return {};
  return invalid_input("{} ({}) is not a multiple of linear_num_key_heads ({}).",
                       config.path("linear_num_value_heads"), c.value_heads, c.key_heads);
}

Result<Qwen35Config> read(const ConfigReader& whole, std::string_view architecture,
                          const DecoderDefaults& defaults) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  Qwen35Config c{};
  TOK_TRY(static_cast<DecoderSpec&>(c), read_decoder(config, architecture, defaults));
  c.norm = NormKind::kRmsLessOne;
  c.tied = read_tied(whole, config, false);
  for (const char* const name : {"attention_bias", "attn_output_gate"}) {
    const bool expected = std::string_view(name) == "attn_output_gate";
    if (config.flag(name, expected) != expected) {
      return unsupported("{} is {}; this engine runs Qwen3.5 with {}.", config.path(name),
                         !expected, expected);
    }
  }
  const uint32_t period = config.size("full_attention_interval", 4);
  TOK_TRY(config.status());
  TOK_TRY(read_delta(config, c));
  TOK_TRY(c.full, read_full_layers(config, c.layers, period, "linear_attention"));
  TOK_TRY(read_partial_rope(config, c, 0.25));
  return c;
}

/// Experts in every layer unless config.json has dense ones, beside one that every token takes.
Result<Mixture> read_mixture(const ConfigReader& whole, uint32_t layers, const ExpertSizes& usual) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  Mixture mixture;
  TOK_TRY(mixture.sizes, read_experts(config, "num_experts", "num_experts_per_tok", usual));
  mixture.route.normalize = config.flag("norm_topk_prob", true);
  mixture.shared = config.size("shared_expert_intermediate_size", 512);
  mixture.shared_gate = "mlp.shared_expert_gate";
  TOK_TRY(mixture.sparse, read_sparse_layers(config, layers));
  return mixture;
}

}  // namespace

Result<Qwen35Config> read_qwen3_5(const ConfigReader& config) {
  return read(config, "Qwen3_5ForCausalLM", {.kv_heads = 4, .head_dim = 256, .max_context = 32768});
}

Result<Qwen35Config> read_qwen3_5_moe(const ConfigReader& config) {
  TOK_TRY(Qwen35Config c, read(config, "Qwen3_5MoeForCausalLM",
                               {.kv_heads = 2, .head_dim = 256, .ffn = 512, .max_context = 32768}));
  TOK_TRY(c.mixture, read_mixture(config, c.layers, {.experts = 256, .top_k = 8, .ffn = 512}));
  return c;
}

Result<Qwen35Config> read_qwen3_next(const ConfigReader& config) {
  TOK_TRY(Qwen35Config c,
          read(config, "Qwen3NextForCausalLM",
               {.kv_heads = 2, .head_dim = 256, .ffn = 5632, .max_context = 32768}));
  TOK_TRY(c.mixture, read_mixture(config, c.layers, {.experts = 512, .top_k = 10, .ffn = 512}));
  return c;
}

}  // namespace tokamak
