// Gemma 4 (text, also inside the multimodal checkpoint). Reference:
// transformers/models/gemma4/modeling_gemma4.py.
//
// The differences from Gemma 3:
//   norms are stored as they are; v is normed too, without a weight; scores are not scaled
//   full layers have heads and rotary frequencies of their own ("proportional": a part of the pairs
//   turns), and in some models one projection for k and v
//   the last layers may have no keys and values: they read the cache of an earlier layer
//   per-layer embeddings: a second table and a projection of the first one's row give every layer a
//   vector, which gates what the layer adds at its end
//   optionally a mixture of experts beside the MLP, both after the same norm
//   the result of a layer is scaled by a number of the checkpoint
#include <cmath>
#include <optional>

#include "model/arch.h"
#include "model/arch/gemma4_config.h"
#include "model/arch/layer.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

struct Layer : LayerBase<Gemma4Config> {
  const Gemma4Attention& a = c.attention(index);

  /// x: [T, n * head_dim], normed per head and rotated.
  ValueId turned(const char* norm_name, ValueId x) {
    ValueId h = norm(norm_name, x, a.head_dim);
    return b.rotate(h, a.head_dim, a.rope, c.full[index] ? "rope.full" : "rope.sliding");
  }

  ValueId attention(ValueId x) {
    const Attention attributes{.scale = 1, .window = a.window};
    const uint32_t kv_columns = a.kv_heads * a.head_dim;
    ValueId q = b.projection(x, p + "self_attn.q_proj", c.heads * a.head_dim, c.bias), o = {};
    if (const uint32_t owner = c.kv_layer(index); owner != index) {
      q = turned("self_attn.q_norm", q);
      o = b.shared_attention(owner, q, attributes);
    } else {
      ValueId k = b.projection(x, p + "self_attn.k_proj", kv_columns, c.bias);
      ValueId v = a.k_is_v ? k : b.projection(x, p + "self_attn.v_proj", kv_columns, c.bias);
      q = turned("self_attn.q_norm", q);
      k = turned("self_attn.k_norm", k);
      v = b.plain_norm(v, a.head_dim, c.eps);
      o = b.cached_attention(index, q, k, v, a.kv_heads, a.head_dim, attributes);
    }
    return b.projection(o, p + "self_attn.o_proj", c.hidden, c.bias);
  }

  ValueId mlp(ValueId x) {
    const uint32_t ffn = c.ffn_of(index);
    ValueId gate = b.projection(x, p + "mlp.gate_proj", ffn);
    ValueId up = b.projection(x, p + "mlp.up_proj", ffn);
    ValueId gated = b.glu(c.activation, gate, up);
    return b.projection(gated, p + "mlp.down_proj", c.hidden);
  }

  ValueId experts(ValueId x) {
    // The reference scales the router's input; it is linear, so the few logits do as well.
    ValueId h = b.rms_norm(x, b.vector(p + "router.scale", c.hidden), c.eps);
    ValueId logits = b.projection(h, p + "router.proj", c.experts.experts);
    logits = b.scale(logits, 1 / std::sqrt(float(c.hidden)));
    const GraphBuilder::Routed routed =
        b.route(logits, {.top_k = c.experts.top_k, .normalize = true},
                b.vector(p + "router.per_expert_scale", c.experts.experts));
    h = norm("pre_feedforward_layernorm_2", x, c.hidden);
    return gated_experts(b, p + "experts", c.experts, {c.activation}, h, routed);
  }

  ValueId feed_forward(ValueId x) {
    ValueId dense = mlp(norm("pre_feedforward_layernorm", x, c.hidden));
    if (c.experts.experts == 0) return dense;
    dense = norm("post_feedforward_layernorm_1", dense, c.hidden);
    return b.add(dense, norm("post_feedforward_layernorm_2", experts(x), c.hidden));
  }

  /// per_layer: [T, layers * ple]
  ValueId embedded(ValueId x, ValueId per_layer) {
    ValueId gate = b.projection(x, p + "per_layer_input_gate", c.ple);
    ValueId own = b.columns(per_layer, index * c.ple, c.ple);
    own = b.glu(c.activation, gate, own);
    own = b.projection(own, p + "per_layer_projection", c.hidden);
    return norm("post_per_layer_input_norm", own, c.hidden);
  }

  ValueId operator()(ValueId x, std::optional<ValueId> per_layer) {
    ValueId h = attention(norm("input_layernorm", x, c.hidden));
    x = b.add(x, norm("post_attention_layernorm", h, c.hidden));
    x = b.add(x, norm("post_feedforward_layernorm", feed_forward(x), c.hidden));
    if (per_layer) x = b.add(x, embedded(x, *per_layer));
    return b.scale(x, 1, b.vector(p + "layer_scalar", 1));
  }
};

/// The rows that per-layer embeddings give all layers: x: [T, hidden] -> [T, layers * ple]
/// Images have the row of padding in the second table, and their own in x.
ValueId per_layer_inputs(ModelBuilder& b, const Gemma4Config& c, ValueId x) {
  const uint32_t columns = c.layers * c.ple;
  constexpr const char* kTable = "embed_tokens_per_layer.weight";
  // Ids from vocab on are images, whatever the table has for them.
  const uint32_t rows = b.reads_images() ? c.vocab : c.ple_vocab;
  ValueId table = b.matrix(kTable, {0, rows, c.ple_vocab}, columns);
  ValueId token = {};
  if (b.reads_images()) {
    const ValueId padding = b.table_row(kTable, c.pad, columns);
    token = b.embed(b.token_ids(), table, padding, 1);
  } else {
    token = b.embed(b.token_ids(), table);
  }
  token = b.scale(token, std::sqrt(float(c.ple)));
  ValueId context = b.projection(x, "per_layer_model_projection", columns);
  // The reference divides by sqrt(hidden) before it norms: only eps sees that.
  context = b.rms_norm(context, b.vector("per_layer_projection_norm.weight", c.ple),
                       c.eps * float(c.hidden));
  return b.scale(b.add(context, token), std::sqrt(0.5f));
}

}  // namespace

Result<ModelFacts> gemma4_facts(const ConfigReader& config) {
  TOK_TRY(const Gemma4Config c, read_gemma4(config));
  return ModelFacts{"Gemma4ForCausalLM", c.vocab, c.layers, c.max_context};
}

Result<Graph> build_gemma4(const ConfigReader& config, const TensorFile& file,
                           const BuildOptions& options) {
  TOK_TRY(const Gemma4Config c, read_gemma4(config));
  TOK_TRY(const std::string prefix, find_prefix(file, {"model.", "model.language_model."}));
  ModelBuilder b(file, options, prefix);
  ValueId table = b.matrix("embed_tokens.weight", c.vocab, c.hidden);
  ValueId x = b.embedded(table, std::sqrt(float(c.hidden)));
  std::optional<ValueId> per_layer;
  if (c.ple != 0) per_layer = per_layer_inputs(b, c, x);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = Layer{{b, c, i}}(x, per_layer);
  x = b.rms_norm(b.output_rows(x), b.vector("norm.weight", c.hidden), c.eps);
  if (!c.tied) table = b.matrix("lm_head.weight", c.vocab, c.hidden);
  ValueId logits = b.linear(x, table);
  return b.finish_logits(c.logit_cap > 0 ? b.softcap(logits, c.logit_cap) : logits);
}

}  // namespace tokamak
