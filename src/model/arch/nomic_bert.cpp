// NomicBERT. Reference: nomic-ai/nomic-bert-2048, modeling_hf_nomic_bert.py, and
// transformers/models/nomic_bert/modeling_nomic_bert.py; arXiv:2402.01613.
//
// The differences from BERT:
//   rotary positions; q, k and v are rows of one matrix; a gated FFN, fc12 the gate
//   biases in the norms only, as a rule
//   the config has GPT-2's names, or in newer files BERT's
//   Nomic Embed v2 (arXiv:2502.07972): plain MLPs with biases, and in every second block experts of
//   that kind, whose shares need not sum to 1
#include "model/arch/nomic_bert.h"

#include "model/decoder_fields.h"

namespace tokamak {
namespace {

using Config = NomicConfig;

/// The MLP of a block, or its experts: x: [T, hidden] -> [T, hidden]
ValueId mlp(ModelBuilder& b, const Config& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("encoder.layers.{}.", index), bias = p + "mlp.experts.bias";
  if (c.mixture && c.mixture->sparse[index]) {
    const ValueId y = routed_experts(b, p, *c.mixture, c.activation, x);
    if (!b.has(bias)) return y;
    // The same for every token, whatever its type.
    const std::vector<uint32_t> rows(c.types, 0);
    const ValueId table = b.listed_rows(bias + ".rows", bias, 1, c.hidden, rows);
    return b.add(y, b.embed(b.token_types(), table));
  }
  if (!c.gated) {
    x = b.activate(c.activation, b.projection(x, p + "mlp.fc1", c.ffn, c.up_bias));
    return b.projection(x, p + "mlp.fc2", c.hidden, c.down_bias);
  }
  const ValueId gate = b.projection(x, p + "mlp.fc12", c.ffn, c.up_bias);
  const ValueId up = b.projection(x, p + "mlp.fc11", c.ffn, c.up_bias);
  return b.projection(b.glu(c.activation, gate, up), p + "mlp.fc2", c.hidden, c.down_bias);
}

ValueId block(ModelBuilder& b, const Config& c, uint32_t index, ValueId x) {
  const std::string p = fmt::format("encoder.layers.{}.", index);
  const auto part = [&](uint32_t number) {
    return packed_qkv(b, c, x, p + "attn.Wqkv", number, c.qkv_bias);
  };
  ValueId q = b.rotate(part(0), c.head_dim(), c.rope, "rope");
  ValueId k = b.rotate(part(1), c.head_dim(), c.rope, "rope");
  ValueId v = part(2);
  ValueId o = attention_both_ways(b, c, q, k, v);
  o = b.projection(o, p + "attn.out_proj", c.hidden, c.qkv_bias);
  x = b.normed(b.add(x, o), p + "norm1", c.eps);
  return b.normed(b.add(x, mlp(b, c, index, x)), p + "norm2", c.eps);
}

/// The matrices of all experts are rows of one in the file, those of the second as [in, out].
Result<TensorFile> with_experts(const TensorFile& file, const Config& c) {
  const ExpertSizes& sizes = c.mixture->sizes;
  return with_marks(file, [&](TensorInfo& tensor) {
    const std::string& name = tensor.name;
    const bool is_experts = name.ends_with("mlp.experts.mlp.w1") || name.ends_with(".mlp.w2");
    if (is_experts && tensor.elements() == uint64_t{sizes.experts} * sizes.ffn * c.hidden) {
      tensor.shape = {sizes.experts, sizes.ffn, c.hidden};
    } else if (name.ends_with("mlp.experts.bias") && tensor.elements() == c.hidden) {
      tensor.shape = {1, c.hidden};
    }
  });
}

}  // namespace

Result<ModelFacts> nomic_bert_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read_nomic_bert(config));
  return encoder_facts("NomicBertModel", c);
}

Result<Graph> build_nomic_bert(const ConfigReader& config, const TensorFile& stored,
                               const BuildOptions& options) {
  TOK_TRY(const Config c, read_nomic_bert(config));
  TOK_TRY(const TensorFile file, c.mixture ? with_experts(stored, c) : Result<TensorFile>(stored));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "bert."}, "embeddings.word_embeddings.weight"));
  ModelBuilder b(file, options, prefix);
  ValueId words = b.matrix("embeddings.word_embeddings.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), words);
  ValueId types = b.matrix("embeddings.token_type_embeddings.weight", c.types, c.hidden);
  x = b.add(x, b.embed(b.token_types(), types));
  x = b.normed(x, "emb_ln", c.eps);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = block(b, c, i, x);
  return b.finish_embedding(b.output_rows(x));
}

}  // namespace tokamak
