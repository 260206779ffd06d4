// Small encoders as GGUF files give the vectors of their folders, and the recorded ones.
#include "golden/gguf_fixture.h"

namespace tokamak::golden {
namespace {

const std::vector<std::pair<std::string, std::string>> kBertNames = {
    {"embeddings.word_embeddings", "token_embd"},
    {"embeddings.token_type_embeddings", "token_types"},
    {"embeddings.position_embeddings", "position_embd"},
    {"embeddings.LayerNorm", "token_embd_norm"},
    {"attention.self.query", "attn_q"},
    {"attention.self.key", "attn_k"},
    {"attention.self.value", "attn_v"},
    {"attention.output.dense", "attn_output"},
    {"attention.output.LayerNorm", "attn_output_norm"},
    {"intermediate.dense", "ffn_up"},
    {"output.dense", "ffn_down"},
    {"output.LayerNorm", "layer_output_norm"},
    {"pooler.dense", "pooler"},
    {"embeddings.position_ids", "pooler"},
};

/// A tensor as a converter leaves it: without the pooler, numbers of rows and the rows of positions
/// before the first token's.
std::vector<LooseTensor> bert_tensors(LooseTensor tensor, uint64_t offset) {
  if (tensor.info.name.starts_with("pooler")) return {};
  if (offset != 0 && tensor.info.name == "position_embd.weight") {
    tensor.take_rows(row_range(offset, tensor.info.shape[0] - offset));
  }
  return {std::move(tensor)};
}

GgufForm bert(uint32_t hidden, uint32_t layers, uint32_t ffn, double eps, uint32_t pooling,
              uint64_t offset) {
  return {.architecture = "bert",
          .metadata = gguf_sizes(hidden, layers, 4, ffn, 128,
                                 {{"attention.layer_norm_epsilon", eps},
                                  {"attention.causal", false},
                                  {"pooling_type", pooling}}),
          .layers = "encoder.layer.",
          .names = kBertNames,
          .change = [offset](LooseTensor t) { return bert_tensors(std::move(t), offset); }};
}

constexpr uint32_t kMean = 1, kFirst = 2;

/// Norms with their 1.
std::vector<LooseTensor> gemma_tensors(LooseTensor tensor) {
  if (tensor.info.name.ends_with("norm.weight")) {
    change_floats(tensor, [](float w) { return w + 1; });
  }
  return {std::move(tensor)};
}

GgufForm embeddinggemma() {
  return {.architecture = "gemma-embedding",
          .metadata = gguf_sizes(64, 6, 2, 96, 2048,
                                 {{"attention.head_count_kv", 1},
                                  {"attention.key_length", 32},
                                  {"attention.value_length", 32},
                                  {"attention.layer_norm_rms_epsilon", 1e-6},
                                  {"attention.sliding_window", 32},
                                  {"rope.freq_base", 1e6},
                                  {"pooling_type", kMean}}),
          .layers = "layers.",
          .names = {{"embed_tokens", "token_embd"},
                    {"norm", "output_norm"},
                    {"2_Dense/linear", "dense_2"},
                    {"3_Dense/linear", "dense_3"},
                    {"input_layernorm", "attn_norm"},
                    {"self_attn.q_proj", "attn_q"},
                    {"self_attn.k_proj", "attn_k"},
                    {"self_attn.v_proj", "attn_v"},
                    {"self_attn.o_proj", "attn_output"},
                    {"self_attn.q_norm", "attn_q_norm"},
                    {"self_attn.k_norm", "attn_k_norm"},
                    {"post_attention_layernorm", "post_attention_norm"},
                    {"pre_feedforward_layernorm", "ffn_norm"},
                    {"post_feedforward_layernorm", "post_ffw_norm"},
                    {"mlp.gate_proj", "ffn_gate"},
                    {"mlp.up_proj", "ffn_up"},
                    {"mlp.down_proj", "ffn_down"}},
          .change = gemma_tensors};
}

/// The matrices of all experts are rows of one in the checkpoint; converters leave the bias of
/// their sum out.
std::vector<LooseTensor> nomic_experts(LooseTensor tensor) {
  constexpr uint64_t kExperts = 4, kFfn = 40, kHidden = 48;
  if (tensor.info.name.find("experts_bias") != std::string::npos) return {};
  if (!tensor.info.name.ends_with("_exps.weight")) return {std::move(tensor)};
  tensor.info.shape = {kExperts, kFfn, kHidden};
  if (tensor.info.name.find("ffn_down_exps") != std::string::npos) tensor.transpose();
  return {std::move(tensor)};
}

using Names = decltype(GgufForm::names);

/// The names of JinaBERT's tensors: MLPs have those of `mlp`.
GgufForm jina(const Names& mlp) {
  Names names = {{"embeddings.word_embeddings", "token_embd"},
                 {"embeddings.token_type_embeddings", "token_types"},
                 {"embeddings.LayerNorm", "token_embd_norm"},
                 {"attention.self.query", "attn_q"},
                 {"attention.self.key", "attn_k"},
                 {"attention.self.value", "attn_v"},
                 {"attention.output.dense", "attn_output"},
                 {"attention.output.LayerNorm", "attn_output_norm"}};
  names.insert(names.end(), mlp.begin(), mlp.end());
  return {.architecture = "jina-bert-v2",
          .metadata = gguf_sizes(48, 2, 3, 40, 512,
                                 {{"attention.layer_norm_epsilon", 1e-12},
                                  {"attention.causal", false},
                                  {"pooling_type", kMean}}),
          .layers = "encoder.layer.",
          .names = std::move(names)};
}

/// The gate and up apart, as converters wrote them first.
std::vector<LooseTensor> apart(LooseTensor tensor) {
  if (!tensor.info.name.ends_with("ffn_up.weight")) return {std::move(tensor)};
  LooseTensor gate = tensor;
  const uint64_t half = tensor.info.shape[0] / 2;
  gate.info.name.replace(gate.info.name.find("ffn_up"), 6, "ffn_gate");
  gate.take_rows(row_range(0, half));
  tensor.take_rows(row_range(half, half));
  return {std::move(gate), std::move(tensor)};
}

/// The names of NomicBERT's tensors, with those of its MLPs.
Names nomic_names(const Names& mlp) {
  Names all = {{"embeddings.word_embeddings", "token_embd"},
               {"embeddings.token_type_embeddings", "token_types"},
               {"emb_ln", "token_embd_norm"},
               {"attn.Wqkv", "attn_qkv"},
               {"attn.out_proj", "attn_output"},
               {"norm1", "attn_output_norm"},
               {"mlp.fc2", "ffn_down"},
               {"norm2", "layer_output_norm"}};
  all.insert(all.end(), mlp.begin(), mlp.end());
  return all;
}

GgufForm nomic_moe() {
  return {.architecture = "nomic-bert-moe",
          .metadata = gguf_sizes(48, 4, 2, 40, 512,
                                 {{"attention.layer_norm_epsilon", 1e-5},
                                  {"attention.causal", false},
                                  {"expert_count", 4},
                                  {"expert_used_count", 2},
                                  {"moe_every_n_layers", 2},
                                  {"rope.freq_base", 10000.0},
                                  {"pooling_type", kMean}}),
          .layers = "encoder.layers.",
          .names = nomic_names({{"mlp.fc1", "ffn_up"},
                                {"mlp.router.layer", "ffn_gate_inp"},
                                {"mlp.experts.mlp.w1", "ffn_up_exps.weight"},
                                {"mlp.experts.mlp.w2", "ffn_down_exps.weight"},
                                {"mlp.experts", "experts_bias"}}),
          .change = nomic_experts};
}

GgufForm jina_apart() {
  GgufForm form = jina({{"mlp.gated_layers", "ffn_up"},
                        {"mlp.wo", "ffn_down"},
                        {"mlp.layernorm", "layer_output_norm"}});
  form.change = apart;
  return form;
}

const GgufForms& encoder_forms() {
  static const GgufForms forms = {
      {"bert", bert(64, 3, 128, 1e-12, kFirst, 0)},
      {"embeddinggemma", embeddinggemma()},
      {"minilm", bert(48, 2, 96, 1e-12, kMean, 0)},
      {"xlmr", bert(64, 2, 96, 1e-5, kMean, 2)},
      {"modernbert",
       {.architecture = "modern-bert",
        .metadata = gguf_sizes(64, 4, 2, 64, 512,
                               {{"attention.layer_norm_epsilon", 1e-5},
                                {"attention.causal", false},
                                {"attention.sliding_window", 16},
                                {"attention.sliding_window_pattern", 3},
                                {"rope.freq_base", 160000.0},
                                {"rope.freq_base_swa", 10000.0},
                                {"rope.scaling.type", "none"},
                                {"pooling_type", kFirst}}),
        .layers = "layers.",
        .names = {{"embeddings.tok_embeddings", "token_embd"},
                  {"embeddings.norm", "token_embd_norm"},
                  {"attn_norm", "attn_norm"},
                  {"attn.Wqkv", "attn_qkv"},
                  {"attn.Wo", "attn_output"},
                  {"mlp_norm", "ffn_norm"},
                  {"mlp.Wi", "ffn_up"},
                  {"mlp.Wo", "ffn_down"},
                  {"final_norm", "output_norm"}}}},
      {"nomic_bert",
       {.architecture = "nomic-bert",
        .metadata = gguf_sizes(64, 2, 2, 96, 512,
                               {{"attention.layer_norm_epsilon", 1e-12},
                                {"attention.causal", false},
                                {"rope.freq_base", 1000.0},
                                {"pooling_type", kMean}}),
        .layers = "encoder.layers.",
        .names = nomic_names({{"mlp.fc11", "ffn_up"}, {"mlp.fc12", "ffn_gate"}})}},
      {"nomic_moe", nomic_moe()},
      {"jina_bert", jina_apart()},
      {"jina_code", jina({{"attention.self.layer_norm_q", "attn_q_norm"},
                          {"attention.self.layer_norm_k", "attn_k_norm"},
                          {"layer_norm_1", "attn_norm_2"},
                          {"mlp.up_gated_layer", "ffn_up"},
                          {"mlp.down_layer", "ffn_down"},
                          {"layer_norm_2", "layer_output_norm"}})},
  };
  return forms;
}

struct EncoderFile : GgufGolden {};
TEST_P(EncoderFile, GivesTheVectorsOfItsCheckpoint) {
  const std::string folder = TOKAMAK_TEST_DATA "/embeddings/" + GetParam();
  const auto file = open_form(folder, encoder_forms().at(GetParam()));
  ASSERT_NE(file, nullptr);
  const auto checkpoint = open(folder, cpu);
  ASSERT_NE(checkpoint, nullptr);
  const Json golden = read_json(folder + "/golden.json");
  // Those of what converters make of it, where they leave something out.
  const Json* const less = golden.find("cases_of_gguf");
  for (const Json& c : (less != nullptr ? less : golden.find("cases"))->as_array()) {
    const std::vector<uint32_t> ids = ids_of(*c.find("ids"));
    const auto vector = file->embed(ids), own = checkpoint->embed(ids);
    ASSERT_TRUE(vector) << vector.error().message;
    ASSERT_TRUE(own) << own.error().message;
    EXPECT_EQ(*vector == *own, less == nullptr);
    EXPECT_LE(relative_error(floats_of(*c.find("embedding")), *vector), cpu.tolerance);
  }
}
INSTANTIATE_TEST_SUITE_P(Models, EncoderFile, testing::ValuesIn(names_of(encoder_forms())),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace tokamak::golden
