#include "model/decoder.h"

#include <cmath>

#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {

Result<DecoderSpec> read_decoder(ConfigReader config, std::string_view architecture,
                                 const DecoderDefaults& defaults) {
  DecoderSpec c{};
  c.architecture = architecture;
  c.vocab = config.size("vocab_size");
  c.hidden = config.size("hidden_size");
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads");
  c.kv_heads = config.size("num_key_value_heads",
                           defaults.kv_heads == 0 || config.mentions("num_key_value_heads")
                               ? c.heads
                               : defaults.kv_heads);
  c.head_dim = !config.has("head_dim") && defaults.head_dim != 0
                   ? defaults.head_dim
                   : read_head_dim(config, c.hidden, c.heads);
  c.ffn = defaults.ffn == 0 ? config.size(defaults.ffn_name)
                            : config.size(defaults.ffn_name, defaults.ffn);
  c.max_context = config.size("max_position_embeddings", defaults.max_context);
  c.eps = float(config.positive(defaults.eps_name, defaults.eps));
  c.tied = config.flag("tie_word_embeddings", defaults.tied);
  if (!defaults.activation_name.empty()) {
    c.activation = read_activation(config, defaults.activation_name, defaults.activation);
  }
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.kv_heads, c.head_dim));
  if (!config.flag("is_causal", true)) {
    return unsupported("{} is false; this engine runs this architecture with causal attention.",
                       config.path("is_causal"));
  }
  TOK_TRY(config.status());
  c.windows.assign(c.layers, 0);
  return c;
}

namespace {

/// The first table, which turns `part` of each head unless config.json has another part.
Result<double> read_first_rope(ConfigReader& config, DecoderSpec& c, double theta, double part) {
  theta = read_rope_field(config, "rope_theta", theta);
  part = read_rope_field(config, "partial_rotary_factor", part);
  TOK_TRY(config.status());
  ConfigReader fields = rope_fields(config);
  part = fields.positive("partial_rotary_factor", part);
  TOK_TRY(fields.status());
  TOK_TRY(const uint32_t turned, rotary_size(config, part, c.head_dim));
  c.ropes = {read_rope(fields, theta, turned, c.max_context)};
  TOK_TRY(fields.status());
  return part;
}

}  // namespace

Result<void> read_decoder_rope(ConfigReader config, DecoderSpec& c, double theta) {
  TOK_TRY(const double part, read_first_rope(config, c, theta, 1.0));
  if (part == 1.0) return {};
  return unsupported("{} is {}; this engine turns whole heads of this architecture.",
                     config.path("partial_rotary_factor"), part);
}

Result<void> read_partial_rope(ConfigReader config, DecoderSpec& c, double part, double theta) {
  TOK_TRY(part, read_first_rope(config, c, theta, part));
  const size_t turned = c.ropes[0].inverse_frequencies.size() * 2;
  if (!c.pairs || c.head_dim % turned == 0) return {};
  return unsupported(
      "{} is {}; this engine turns {} of {} elements of a head in pairs only where "
      "one divides the other.",
      config.path("partial_rotary_factor"), part, turned, c.head_dim);
}

Result<std::vector<bool>> read_windows(ConfigReader config, DecoderSpec& c, uint32_t period) {
  const uint32_t window = config.size("sliding_window", 4096);
  TOK_TRY(config.status());
  TOK_TRY(std::vector<bool> full, read_full_layers(config, c.layers, period));
  for (uint32_t i = 0; i < c.layers; ++i) c.windows[i] = full[i] ? 0 : window;
  return full;
}

Result<std::vector<bool>> read_sparse_layers(ConfigReader& config, uint32_t layers) {
  const uint32_t step = config.size("decoder_sparse_step", 1);
  const std::vector<uint32_t> dense = config.counts("mlp_only_layers");
  TOK_TRY(config.status());
  std::vector<bool> sparse;
  for (uint32_t i = 0; i < layers; ++i) sparse.push_back((i + 1) % step == 0);
  for (const uint32_t layer : dense) {
    if (layer >= layers) {
      return invalid_input("{} has {}, expected layers below {} (num_hidden_layers).",
                           config.path("mlp_only_layers"), layer, layers);
    }
    sparse[layer] = false;
  }
  return sparse;
}

RopeTable still(uint32_t head_dim) {
  return {.inverse_frequencies = std::vector<float>(head_dim / 2, 0.0f)};
}

ModelFacts facts_of(const DecoderSpec& spec) {
  return {.architecture = std::string(spec.architecture),
          .vocab = spec.vocab,
          .layers = spec.layers,
          .max_context = spec.max_context,
          .hidden = spec.hidden,
          .rope = spec.ropes.at(0)};
}

std::string decoder_prefix(const TensorFile& file, std::string_view embedding) {
  for (const char* prefix :
       {"model.", "model.language_model.", "language_model.model.", "model.text_model.",
        "model.decoder.", "gpt_neox.", "transformer.", "backbone.", ""}) {
    if (file.find(fmt::format("{}{}.weight", prefix, embedding)) != nullptr) return prefix;
  }
  return "model.";
}

ValueId TextDecoder::norm(std::string_view name, ValueId x, uint32_t size, float factor) {
  if (name.empty()) return x;
  const std::string full = p + std::string(name);
  const bool has_bias = c.norm == NormKind::kLayerBias;
  if (has_bias || c.norm == NormKind::kLayer) return b.normed(x, full, c.eps, has_bias);
  const bool add_one = c.norm == NormKind::kRmsLessOne;
  return b.rms_norm(x, b.vector(full + ".weight", size, add_one, factor), c.eps);
}

ValueId TextDecoder::part_of_heads(uint32_t part, ValueId x) {
  const std::string name = p + std::string(c.names.qkv), tensor = name + ".weight";
  std::vector<ModelBuilder::Piece> pieces;
  std::vector<ModelBuilder::Rows> rows;
  const uint32_t queries = c.heads / c.kv_heads, group = queries + 2;  // heads of a key head
  for (uint32_t head = 0; head < c.kv_heads; ++head) {
    const uint32_t first = group * head + (part == 0 ? 0 : queries + part - 1);
    rows.push_back({first * c.head_dim, (part == 0 ? queries : 1) * c.head_dim,
                    group * c.kv_heads * c.head_dim});
    pieces.push_back({tensor, rows.back()});
  }
  const std::string own = fmt::format("{}.{}", name, part);
  std::optional<ValueId> bias;
  if (c.qkv_bias) bias = b.pieces_of_vector(own + ".bias", name + ".bias", rows);
  return b.projection(x, own, pieces, bias);
}

TextDecoder::Heads TextDecoder::heads(ValueId x) {
  const uint32_t rows = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  Heads h{};
  if (c.joined_heads) return {part_of_heads(0, x), part_of_heads(1, x), part_of_heads(2, x)};
  if (c.joined_qkv) {
    const std::string name = p + std::string(c.names.qkv);
    const uint32_t all = rows + 2 * kv;
    h.q = b.projection(x, name, {.first = 0, .count = rows, .of = all}, c.qkv_bias);
    h.k = b.projection(x, name, {.first = rows, .count = kv, .of = all}, c.qkv_bias);
    h.v = b.projection(x, name, {.first = rows + kv, .count = kv, .of = all}, c.qkv_bias);
  } else {
    const std::string at = p + std::string(c.names.attention);
    h.q = b.projection(x, at + "q_proj", rows, c.qkv_bias);
    h.k = b.projection(x, at + "k_proj", kv, c.qkv_bias);
    h.v = b.projection(x, at + "v_proj", kv, c.qkv_bias);
  }
  return h;
}

ValueId TextDecoder::attention(uint32_t layer, ValueId x) {
  auto [q, k, v] = heads(x);
  const bool is_whole = c.head_norm == HeadNorm::kRows;
  const auto norm_heads = [&] {
    q = norm(c.norms.q, q, is_whole ? c.heads * c.head_dim : c.head_dim);
    k = norm(c.norms.k, k, is_whole ? c.kv_heads * c.head_dim : c.head_dim);
  };
  if (c.head_norm == HeadNorm::kHeads || is_whole) norm_heads();
  if (c.query_scale.beta != 0) q = b.add_node(c.query_scale, {q}).front();
  const uint32_t rope = c.rope_of.empty() ? 0 : c.rope_of[layer];
  const std::string table = rope == 0 ? "rope" : fmt::format("rope.{}", rope);
  q = b.rotate(q, c.head_dim, c.ropes[rope], table);
  k = b.rotate(k, c.head_dim, c.ropes[rope], table);
  if (c.head_norm == HeadNorm::kTurnedHeads) norm_heads();
  const float scale = c.score_scale > 0 ? c.score_scale : 1.0f / std::sqrt(float(c.head_dim));
  std::optional<ValueId> sinks;
  if (c.sinks) sinks = b.vector(p + "self_attn.sinks", c.heads);
  ValueId o = b.cached_attention(
      layer, q, k, v, c.kv_heads, c.head_dim,
      {.scale = scale, .window = c.windows[layer], .softcap = c.score_cap}, sinks);
  return b.projection(o, p + std::string(c.names.output), c.hidden, c.output_bias);
}

ValueId TextDecoder::glu_mlp(std::string_view at, uint32_t ffn, ValueId x) {
  const std::string name = p + std::string(at);
  ValueId gate, up;
  if (c.joined_gate_up) {
    const std::string joined = name + std::string(c.names.gate_up);
    gate = b.projection(x, joined, {.first = 0, .count = ffn, .of = 2 * ffn}, c.mlp_bias);
    up = b.projection(x, joined, {.first = ffn, .count = ffn, .of = 2 * ffn}, c.mlp_bias);
  } else {
    gate = b.projection(x, name + std::string(c.names.glu_gate), ffn, c.mlp_bias);
    up = b.projection(x, name + std::string(c.names.glu_up), ffn, c.mlp_bias);
  }
  const std::string down = name + std::string(c.names.glu_down);
  return b.projection(b.glu(c.activation, gate, up), down, c.hidden, c.mlp_bias);
}

ValueId TextDecoder::plain_mlp(std::string_view up, std::string_view down, uint32_t ffn,
                               ValueId x) {
  x = b.activate(c.activation, b.projection(x, p + std::string(up), ffn, c.mlp_bias));
  return b.projection(x, p + std::string(down), c.hidden, c.mlp_bias);
}

ValueId TextDecoder::experts(const Mixture& mixture, ValueId x) {
  const ValueId chosen = routed_experts(b, p, mixture, c.activation, x);
  if (mixture.shared == 0) return chosen;
  const std::string at(mixture.shared_expert);
  ValueId shared = mixture.form.plain
                       ? plain_mlp(at + "up_proj", at + "down_proj", mixture.shared, x)
                       : glu_mlp(at, mixture.shared, x);
  if (!mixture.shared_gate.empty()) {
    ValueId share = b.projection(x, p + std::string(mixture.shared_gate), 1);
    share = b.activate(Activation::kSigmoid, share);
    shared = b.expert_sum(shared, share);  // of one
  }
  return b.add(chosen, shared);
}

ValueId TextDecoder::mlp(uint32_t layer, ValueId x) {
  if (c.mixture && c.mixture->sparse[layer]) return experts(*c.mixture, x);
  return c.plain_mlp ? plain_mlp(c.names.up, c.names.down, c.ffn, x)
                     : glu_mlp(c.names.mlp, c.ffn, x);
}

ValueId TextDecoder::added(ValueId x, ValueId y, float factor) {
  return b.add(x, factor == 1 ? y : b.scale(y, factor));
}

ValueId TextDecoder::layer(uint32_t index, ValueId x) {
  const ValueId before = norm(c.norms.attention, x, c.hidden, c.norms.attention_factor);
  const ValueId attended = norm(c.norms.attention_after, attention(index, before), c.hidden);
  const ValueId sum = added(x, attended, c.residual_factor);
  const bool has_one_norm = c.parallel && c.norms.mlp.empty();
  const ValueId between =
      has_one_norm ? before : norm(c.norms.mlp, c.parallel ? x : sum, c.hidden, c.norms.mlp_factor);
  return added(sum, norm(c.norms.mlp_after, mlp(index, between), c.hidden),
               c.residual_factor * c.mlp_factor);
}

Result<Graph> TextDecoder::build() {
  ValueId table = b.matrix(std::string(c.names.embedding) + ".weight", c.vocab, c.hidden);
  ValueId x = b.embedded(table, c.embedding_factor);
  if (!c.names.positions.empty()) {
    const std::string name = fmt::format("{}.weight", c.names.positions);
    x = b.with_positions(x, name, c.max_context + c.first_position, c.first_position);
  }
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) {
    p = fmt::format("{}{}.", c.names.layers, i);
    x = b.with_image_rows(i, layer(i, x));
  }
  p = "";
  x = norm(c.names.norm, b.output_rows(x), c.hidden);
  if (b.embeds()) return b.finish_embedding(x);
  const bool is_older =
      !c.names.older_head.empty() && !b.has(std::string(c.names.head) + ".weight");
  const std::string head(is_older ? c.names.older_head : c.names.head);
  if (!c.tied) table = b.matrix(head + ".weight", c.vocab, c.hidden);
  ValueId logits =
      c.head_bias ? b.linear(x, table, b.vector(head + ".bias", c.vocab)) : b.linear(x, table);
  if (c.logits_factor != 1) logits = b.scale(logits, c.logits_factor);
  return b.finish_logits(c.logits_cap > 0 ? b.softcap(logits, c.logits_cap) : logits);
}

Result<TensorFile> with_marks(const TensorFile& file,
                              const std::function<void(TensorInfo&)>& mark) {
  std::vector<TensorInfo> tensors(file.tensors().begin(), file.tensors().end());
  for (TensorInfo& tensor : tensors) mark(tensor);
  return TensorFile::make({file.sources().begin(), file.sources().end()}, std::move(tensors),
                          file.metadata());
}

/// Files of llama.cpp's have the same marks.
/// Heads of which a part turns are as many smaller heads; that the order of what does not turn
/// changes in all of them changes no product of q and k.
Result<TensorFile> in_halves(const TensorFile& file, const DecoderSpec& c) {
  const auto turned = uint32_t(c.ropes[0].inverse_frequencies.size() * 2);
  return with_marks(file, [&](TensorInfo& tensor) {
    const bool is_q = tensor.name.find(".self_attn.q_proj.") != std::string::npos;
    const bool is_k = tensor.name.find(".self_attn.k_proj.") != std::string::npos;
    if (is_q || is_k) {
      tensor.rope_heads = (is_q ? c.heads : c.kv_heads) * (c.head_dim / turned);
    }
  });
}

Result<Graph> decoder_graph(const DecoderSpec& spec, const TensorFile& file,
                            const BuildOptions& options) {
  if (!spec.pairs) {
    ModelBuilder builder(file, options, decoder_prefix(file, spec.names.embedding));
    return TextDecoder(builder, spec).build();
  }
  TOK_TRY(const TensorFile ordered, in_halves(file, spec));
  ModelBuilder builder(ordered, options, decoder_prefix(ordered));
  return TextDecoder(builder, spec).build();
}

}  // namespace tokamak
