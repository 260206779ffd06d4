// GPT-2, DistilGPT-2 and OPT. References: transformers/models/gpt2/modeling_gpt2.py,
// opt/modeling_opt.py; arXiv:2205.01068.
//
// The differences from Llama:
//   layer norms and biases everywhere; an MLP without a gate; the head is the embedding table
//   learned positions are added to the embeddings, and nothing turns; OPT's begin in row 2
//   GPT-2: matrices are stored [in, out]; q, k and v are the rows of one
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

/// Whether products are Conv1D's, as in the reference: those of GGUF files are not. The matrix of
/// q, k and v, which is never square, shows it.
bool has_columns_first(const TensorFile& file, const Gpt2Spec& c) {
  const TensorInfo* const qkv =
      file.find(decoder_prefix(file, c.names.embedding) + "h.0.attn.c_attn.weight");
  return qkv != nullptr && qkv->shape == std::vector<uint64_t>{c.hidden, 3 * uint64_t{c.hidden}};
}

}  // namespace

Result<Gpt2Spec> read_gpt2(ConfigReader config) {
  Gpt2Spec c{};
  c.architecture = "GPT2LMHeadModel";
  c.vocab = config.size("vocab_size", 50257);
  c.hidden = config.size("n_embd");
  c.layers = read_layers(config, "n_layer");
  c.heads = c.kv_heads = config.size("n_head");
  c.ffn = config.has("n_inner") ? config.size("n_inner") : 4 * c.hidden;
  c.max_context = config.size("n_positions", 1024);
  c.eps = float(config.positive("layer_norm_epsilon", 1e-5));
  c.activation = read_activation(config, "activation_function", "gelu_new");
  c.tied = config.flag("tie_word_embeddings", true);
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  if (!config.flag("scale_attn_weights", true)) c.score_scale = 1;
  TOK_TRY(refuse_flag(config, "scale_attn_by_inverse_layer_idx", "with one scale for all layers"));
  TOK_TRY(refuse_flag(config, "add_cross_attention", "without an encoder"));
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.heads, c.head_dim));
  c.windows.assign(c.layers, 0);
  c.norm = NormKind::kLayerBias;
  c.qkv_bias = c.output_bias = c.mlp_bias = c.plain_mlp = c.joined_qkv = true;
  c.names = {.embedding = "wte",
             .norm = "ln_f",
             .positions = "wpe",
             .layers = "h.",
             .qkv = "attn.c_attn",
             .output = "attn.c_proj",
             .up = "mlp.c_fc",
             .down = "mlp.c_proj"};
  c.norms.attention = "ln_1";
  c.norms.mlp = "ln_2";
  c.ropes = {still(c.head_dim)};
  return c;
}

Result<Graph> decoder_graph(const Gpt2Spec& c, const TensorFile& file,
                            const BuildOptions& options) {
  const DecoderSpec& spec = c;
  if (!has_columns_first(file, c)) return decoder_graph(spec, file, options);
  TOK_TRY(const TensorFile marked, with_marks(file, [](TensorInfo& tensor) {
            const bool is_product = tensor.name.find(".c_") != std::string::npos;
            tensor.transposed = is_product && tensor.shape.size() == 2;
          }));
  return decoder_graph(spec, marked, options);
}

Result<DecoderSpec> read_opt(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "OPTForCausalLM",
                                      {.eps = 1e-5,
                                       .ffn_name = "ffn_dim",
                                       .tied = true,
                                       .activation_name = "activation_function",
                                       .activation = "relu"}));
  c.norm = NormKind::kLayerBias;
  c.qkv_bias = c.output_bias = c.mlp_bias = config.flag("enable_bias", true);
  c.plain_mlp = true;
  c.first_position = 2;
  c.names = {.norm = "final_layer_norm",
             .positions = "embed_positions",
             .output = "self_attn.out_proj",
             .up = "fc1",
             .down = "fc2"};
  c.norms.attention = "self_attn_layer_norm";
  c.norms.mlp = "final_layer_norm";
  const bool is_before =
      config.flag("do_layer_norm_before", true) && !config.flag("_remove_final_layer_norm", false);
  const bool is_plain = config.size("word_embed_proj_dim", c.hidden) == c.hidden &&
                        config.flag("layer_norm_elementwise_affine", true);
  TOK_TRY(config.status());
  if (!is_before || !is_plain) {
    return unsupported(
        "{} is of a kind with norms after the sums, norms without weights or projected "
        "embeddings; this engine runs the other sizes of OPT.",
        config.path("do_layer_norm_before"));
  }
  c.ropes = {still(c.head_dim)};
  return c;
}

}  // namespace tokamak
