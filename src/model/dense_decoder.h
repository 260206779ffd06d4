// The decoder that Llama is and that several architectures vary: pre-norms, grouped-query
// attention, gated MLP, rotary positions, no more. An architecture reads a DenseConfig and, where
// its layers differ in more than numbers, overrides a method of DenseDecoder.
#pragma once
#include <string>
#include <vector>

#include "model/arch.h"

namespace tokamak {

struct DenseConfig {
  uint32_t vocab, hidden, layers, heads, kv_heads, head_dim, ffn, max_context;
  float eps;
  bool qkv_bias, output_bias, mlp_bias, tied;
  Activation activation;
  RopeTable rope;
  std::vector<uint32_t> windows;  // per layer; 0: full attention
};

/// What the fields are when config.json leaves them out; 0: they must be there.
struct DenseDefaults {
  uint32_t kv_heads = 0;  // 0: as many as heads, which null says too
  uint32_t head_dim = 0;  // 0: hidden / heads
  uint32_t max_context = 2048;
  double eps = 1e-6;
};

/// Reads all but the biases (none), the windows (none) and the rotary table.
Result<DenseConfig> read_dense(ConfigReader config, const DenseDefaults& defaults);

/// Reads the rotary table, over the whole head, and the positions that it is good for. Part of a
/// head is kUnsupported.
Result<void> read_dense_rope(ConfigReader config, DenseConfig& c);

ModelFacts dense_facts(std::string_view architecture, const DenseConfig& config);

class DenseDecoder {
 public:
  /// REQUIRES: both outlive the decoder.
  DenseDecoder(ModelBuilder& builder, const DenseConfig& config) : b(builder), c(config) {}
  virtual ~DenseDecoder() = default;

  Result<Graph> build();

 protected:
  struct Heads {
    ValueId q, k, v;
  };
  /// x: [T, hidden] -> [T, heads * head_dim] and twice [T, kv_heads * head_dim], not yet rotated.
  virtual Heads heads(ValueId x);
  /// The same, with q and k normed per head.
  Heads normed_heads(ValueId x);
  /// What a layer does before its MLP: x: [T, hidden] -> [T, hidden]
  virtual ValueId attention(uint32_t layer, ValueId x);
  /// activation(gate) * up: x: [T, hidden] -> [T, ffn]
  virtual ValueId gated(ValueId x);
  /// x: [T, hidden] -> [T, hidden]
  virtual ValueId mlp(uint32_t layer, ValueId x);

  virtual ValueId norm(std::string_view name, ValueId x, uint32_t size);

  ModelBuilder& b;
  const DenseConfig& c;
  std::string p;  // "layers.N." of the layer that is being built, "" after the last
};

/// The usual end of an architecture's file.
template <typename Decoder = DenseDecoder, typename Config = DenseConfig>
Result<Graph> build_dense(const Config& config, const TensorFile& file, const BuildOptions& options,
                          std::string prefix = "model.") {
  // Checkpoints of the bare model, as encoders are, have no prefix.
  if (file.find("embed_tokens.weight") != nullptr) prefix.clear();
  ModelBuilder builder(file, options, std::move(prefix));
  return Decoder(builder, config).build();
}

}  // namespace tokamak
