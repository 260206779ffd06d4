// The text part of Llama 4. Reference: transformers/models/llama4/modeling_llama4.py.
//
// The differences from Llama:
//   neighbours turn together; heads that have turned are normed, without weights
//   every fourth layer has no positions, and its queries a scale by position
//   the positions of the other layers come in chunks, each of which sees nothing of those before it
//   a mixture in some layers: the share of the one expert scales what it reads; a shared expert
#include <algorithm>
#include <cmath>

#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

struct Llama4Decoder : TextDecoder {
  Llama4Decoder(ModelBuilder& builder, const Llama4Spec& spec)
      : TextDecoder(builder, spec), own(spec) {}

  ValueId attention(uint32_t layer, ValueId x) override {
    const bool is_still = c.rope_of[layer] != 0;
    const uint32_t kv = c.kv_heads * c.head_dim;
    ValueId q = b.projection(x, p + "self_attn.q_proj", c.heads * c.head_dim, c.qkv_bias);
    ValueId k = b.projection(x, p + "self_attn.k_proj", kv, c.qkv_bias);
    ValueId v = b.projection(x, p + "self_attn.v_proj", kv, c.qkv_bias);
    if (is_still && own.temperature.beta != 0) q = b.add_node(own.temperature, {q}).front();
    const std::string_view table = is_still ? "rope.1" : "rope";
    q = b.rotate(q, c.head_dim, c.ropes[c.rope_of[layer]], table);
    k = b.rotate(k, c.head_dim, c.ropes[c.rope_of[layer]], table);
    if (!is_still && own.norms_heads) {
      q = b.plain_norm(q, c.head_dim, c.eps);
      k = b.plain_norm(k, c.head_dim, c.eps);
    }
    ValueId o = b.cached_attention(layer, q, k, v, c.kv_heads, c.head_dim,
                                   {.scale = 1.0f / std::sqrt(float(c.head_dim)),
                                    .window = c.windows[layer],
                                    .chunks = c.windows[layer] != 0});
    return b.projection(o, p + "self_attn.o_proj", c.hidden, c.output_bias);
  }

  const Llama4Spec& own;
};

/// Layers with experts: those of moe_layers, or the last of every `interleave_moe_layer_step`.
Result<std::vector<bool>> read_sparse(ConfigReader& config, uint32_t layers) {
  const uint32_t step = config.size("interleave_moe_layer_step", 1);
  const std::vector<uint32_t> listed = config.counts("moe_layers");
  TOK_TRY(config.status());
  std::vector<bool> sparse(layers);
  for (uint32_t i = 0; i < layers; ++i) {
    sparse[i] = listed.empty() ? (i + 1) % step == 0 : std::ranges::count(listed, i) != 0;
  }
  return sparse;
}

Result<Mixture> read_mixture(ConfigReader& config, uint32_t layers) {
  Mixture mixture{.sizes = {},
                  .route = {.normalize = false, .score = Score::kSigmoid},
                  .sparse = {},
                  .form = {.scaled_input = true},
                  .router = "feed_forward.router",
                  .experts = "feed_forward.experts",
                  .shared_expert = "feed_forward.shared_expert."};
  const ExpertSizes usual{.experts = 16, .top_k = 1, .ffn = config.size("intermediate_size")};
  TOK_TRY(mixture.sizes, read_experts(config, "num_local_experts", "num_experts_per_tok", usual));
  TOK_TRY(mixture.sparse, read_sparse(config, layers));
  mixture.shared = mixture.sizes.ffn;
  if (mixture.sizes.top_k == 1) return mixture;
  return unsupported("{} is {}; this engine runs this architecture with one expert for a token.",
                     config.path("num_experts_per_tok"), mixture.sizes.top_k);
}

/// The field was a number in older files.
bool is_set(ConfigReader& config, std::string_view name) {
  const Json* const value = config.find(name);
  if (value == nullptr || !value->is_number()) return config.flag(name, true);
  return value->as_number() != 0;
}

}  // namespace

Result<Llama4Spec> read_llama4(const ConfigReader& whole) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  Llama4Spec c{};
  TOK_TRY(static_cast<DecoderSpec&>(c),
          read_decoder(config, "Llama4ForCausalLM",
                       {.kv_heads = 8, .head_dim = 128, .max_context = 131072, .eps = 1e-5}));
  c.tied = read_tied(whole, config, false);
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.pairs = true;
  c.norms_heads = config.flag("use_qk_norm", true);
  c.names.mlp = "feed_forward.";
  c.ffn = config.size("intermediate_size_mlp", 16384);
  if (is_set(config, "attn_temperature_tuning")) {
    c.temperature = {.beta = float(config.positive("attn_scale", 0.1)),
                     .period = config.size("floor_scale", 8192),
                     .shift = 1};
  }
  const uint32_t chunk = config.size("attention_chunk_size", 8192);
  const uint32_t interval = config.size("no_rope_layer_interval", 4);
  const std::vector<uint32_t> turns = config.counts("no_rope_layers");
  TOK_TRY(config.status());
  if (!turns.empty() && turns.size() != c.layers) {
    return invalid_input("{} has {} entries, expected {} (num_hidden_layers).",
                         config.path("no_rope_layers"), turns.size(), c.layers);
  }
  for (uint32_t i = 0; i < c.layers; ++i) {
    const bool turned = turns.empty() ? (i + 1) % interval != 0 : turns[i] != 0;
    c.rope_of.push_back(turned ? 0 : 1);
    if (turned) c.windows[i] = chunk;
  }
  TOK_TRY(c.mixture, read_mixture(config, c.layers));
  TOK_TRY(read_decoder_rope(config, c, 500000.0));
  c.ropes.push_back(still(c.head_dim));
  return c;
}

Result<Graph> decoder_graph(const Llama4Spec& spec, const TensorFile& file,
                            const BuildOptions& options) {
  // A context of one chunk is seen as a whole, by kernels that know no windows, too.
  Llama4Spec c = spec;
  for (uint32_t& window : c.windows) {
    if (options.context <= window) window = 0;
  }
  TOK_TRY(const TensorFile ordered, in_halves(file, c));
  ModelBuilder builder(ordered, options, decoder_prefix(ordered));
  return Llama4Decoder(builder, c).build();
}

}  // namespace tokamak
