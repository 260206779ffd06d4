// The decoder that most models of text are, as data: a family reads a DecoderSpec from config.json,
// and one TextDecoder writes the graph of any. The fields are about arithmetic, none about a model;
// a family whose layers compute something else overrides a method of TextDecoder or writes its own
// graph.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/arch.h"
#include "model/experts.h"

namespace tokamak {

enum class NormKind : uint8_t {
  kRms,
  kRmsLessOne,  // stored as w - 1
  kLayer,       // with a weight and no bias
  kLayerBias,   // with both
};

/// Norms of q and k.
enum class HeadNorm : uint8_t {
  kNone,
  kHeads,        // of each head, before it turns
  kTurnedHeads,  // of each head, after it has turned
  kRows,         // of all heads together, before they turn
};

/// Norms of a layer. Where a name is empty there is none: before attention and MLP as in Llama, or
/// after them, or both.
struct NormNames {
  std::string_view attention = "input_layernorm", attention_after;
  std::string_view mlp = "post_attention_layernorm", mlp_after;
  std::string_view q = "self_attn.q_norm", k = "self_attn.k_norm";
  float attention_factor = 1, mlp_factor = 1;  // of the weights of those before attention and MLP
};

/// Tensors that families call otherwise than Llama, without ".weight".
struct ModuleNames {
  std::string_view embedding = "embed_tokens", norm = "norm", head = "lm_head";
  std::string_view positions;           // a table of learned positions; empty: none
  std::string_view layers = "layers.";  // what stands before the number of a layer
  std::string_view older_head;  // of the head where the file has no `head`; whole with a '/'
  std::string_view attention = "self_attn.";  // of q_proj, k_proj and v_proj
  std::string_view qkv = "self_attn.qkv_proj", output = "self_attn.o_proj";
  std::string_view mlp = "mlp.", gate_up = "gate_up_proj";  // with a gate
  std::string_view glu_gate = "gate_proj", glu_up = "up_proj", glu_down = "down_proj";
  std::string_view up = "mlp.up_proj", down = "mlp.down_proj";  // where the MLP has no gate
};

struct DecoderSpec {
  std::string_view architecture;  // an entry of config.json's "architectures"
  uint32_t vocab, hidden, layers, heads, kv_heads, head_dim, ffn, max_context;
  float eps;
  bool qkv_bias, output_bias, mlp_bias, tied;
  bool sinks;           // of each head, in self_attn.sinks
  bool joined_qkv;      // rows of one tensor: q, then k, then v
  bool joined_heads;    // rows of one tensor: the q of a key head, its k and v, then the next one's
  bool joined_gate_up;  // rows of one tensor: gate, then up
  bool plain_mlp;       // down(activation(up x)), without a gate
  bool head_bias;       // of the logits
  bool parallel;        // attention and MLP both read x, of a norm each or of one, and add to it
  bool pairs;           // neighbours turn together, not halves
  uint32_t first_position;  // the row of names.positions for the first token
  NormKind norm;
  // The scale of queries by their position: that of graph/ops.h, unless beta is 0.
  PositionScale query_scale;
  HeadNorm head_norm;
  NormNames norms;
  ModuleNames names;
  Activation activation;
  float embedding_factor = 1, residual_factor = 1, logits_factor = 1;
  float mlp_factor = 1;                 // of what the MLP gives, beside that of residuals
  float score_scale = 0;                // 0: 1 / sqrt(head_dim)
  float score_cap = 0, logits_cap = 0;  // 0: none
  std::vector<RopeTable> ropes;
  std::vector<uint32_t> rope_of;  // per layer, an index of ropes; empty: the first in all
  std::vector<uint32_t> windows;  // per layer; 0: full attention
  std::optional<Mixture> mixture;
};

/// Values of fields that config.json leaves out; 0: they must be there.
struct DecoderDefaults {
  uint32_t kv_heads = 0;  // 0: as many as heads, which null says too
  uint32_t head_dim = 0;  // 0: hidden / heads
  uint32_t ffn = 0;
  uint32_t max_context = 2048;
  double eps = 1e-6;
  std::string_view eps_name = "rms_norm_eps";
  std::string_view ffn_name = "intermediate_size";
  bool tied = false;
  std::string_view activation_name = "hidden_act";  // empty: the family's own business
  std::string activation = "silu";
};

/// Reads the sizes, eps, tying and the activation. The rest is as in Llama: no biases, no windows,
/// no rotary table yet.
Result<DecoderSpec> read_decoder(ConfigReader config, std::string_view architecture,
                                 const DecoderDefaults& defaults);

/// Reads the first rotary table, over the whole head, and the positions that it is good for. Part
/// of a head is kUnsupported.
Result<void> read_decoder_rope(ConfigReader config, DecoderSpec& c, double theta = 10000.0);

/// The same over the part of each head that config.json has, or `part`.
Result<void> read_partial_rope(ConfigReader config, DecoderSpec& c, double part,
                               double theta = 10000.0);

/// Reads windows of sliding_window in layers that layer_types calls sliding, or but for every
/// `period`-th, and gives which layers are full.
Result<std::vector<bool>> read_windows(ConfigReader config, DecoderSpec& c, uint32_t period);

/// Per layer: experts. Every decoder_sparse_step-th layer has them, but for mlp_only_layers.
Result<std::vector<bool>> read_sparse_layers(ConfigReader& config, uint32_t layers);

/// A table by which nothing turns, for layers without positions: what is fused with the rotation of
/// others is then fused in those, too.
RopeTable still(uint32_t head_dim);

ModelFacts facts_of(const DecoderSpec& spec);

/// The file with q and k marked to be put in the order of halves. REQUIRES: spec.pairs.
Result<TensorFile> in_halves(const TensorFile& file, const DecoderSpec& spec);

class TextDecoder {
 public:
  /// REQUIRES: both outlive the decoder.
  TextDecoder(ModelBuilder& builder, const DecoderSpec& spec) : b(builder), c(spec) {}
  virtual ~TextDecoder() = default;

  Result<Graph> build();

 protected:
  /// The part of a layer before its MLP: x: [T, hidden] -> [T, hidden]
  virtual ValueId attention(uint32_t layer, ValueId x);
  /// The MLP of a layer or its experts: x: [T, hidden] -> [T, hidden]
  virtual ValueId mlp(uint32_t layer, ValueId x);
  /// x: [T, hidden] -> [T, hidden]
  virtual ValueId layer(uint32_t index, ValueId x);

  /// x as it is where the name is empty.
  ValueId norm(std::string_view name, ValueId x, uint32_t size, float factor = 1);

  ModelBuilder& b;
  const DecoderSpec& c;
  std::string p;  // "layers.N." of the layer that is being built, "" after the last

 private:
  struct Heads {
    ValueId q, k, v;
  };
  /// x: [T, hidden] -> [T, heads * head_dim] and twice [T, kv_heads * head_dim], not yet rotated.
  Heads heads(ValueId x);
  /// q (0), k (1) or v (2) of all heads, where the rows of a head are together.
  ValueId part_of_heads(uint32_t part, ValueId x);
  /// down(activation(gate) * up), with the tensors p + at + "gate_proj" and so on:
  /// x: [T, hidden] -> [T, hidden]
  ValueId glu_mlp(std::string_view at, uint32_t ffn, ValueId x);
  /// down(activation(up x)), with the tensors p + up and p + down: x: [T, hidden] -> [T, hidden]
  ValueId plain_mlp(std::string_view up, std::string_view down, uint32_t ffn, ValueId x);
  ValueId experts(const Mixture& mixture, ValueId x);
  /// x + factor * y
  ValueId added(ValueId x, ValueId y, float factor);
};

/// The names in the checkpoint begin with this; bare models, as encoders are, have none.
std::string decoder_prefix(const TensorFile& file, std::string_view embedding = "embed_tokens");

/// The file with what `mark` changes of the descriptions of its tensors.
Result<TensorFile> with_marks(const TensorFile& file, const std::function<void(TensorInfo&)>& mark);

Result<Graph> decoder_graph(const DecoderSpec& spec, const TensorFile& file,
                            const BuildOptions& options);

/// The functions of a row of the registry, for a reader of a DecoderSpec, or of what is derived of
/// it and has a decoder_graph of its own.
template <auto kRead>
Result<ModelFacts> decoder_facts(const ConfigReader& config) {
  TOK_TRY(const auto spec, kRead(config));
  return facts_of(spec);
}

template <auto kRead>
Result<Graph> build_decoder(const ConfigReader& config, const TensorFile& file,
                            const BuildOptions& options) {
  TOK_TRY(const auto spec, kRead(config));
  return decoder_graph(spec, file, options);
}

}  // namespace tokamak
