// Families of the decoder of decoder.h: a reader each, for a row of the registry.
#pragma once
#include "model/arch/deepseek.h"
#include "model/arch/lfm2.h"
#include "model/arch/mamba2.h"
#include "model/arch/qwen3_5.h"
#include "model/decoder.h"

namespace tokamak {

/// A decoder whose file may have matrices as [in, out].
struct Gpt2Spec : DecoderSpec {};

struct ApertusSpec : DecoderSpec {
  std::vector<double> alpha_p, alpha_n, beta;  // per layer; empty: in tensors
};

struct Llama4Spec : DecoderSpec {
  bool norms_heads = false;
  PositionScale temperature;  // of queries in layers without positions; beta 0: none
};

Result<ApertusSpec> read_apertus(ConfigReader config);
Result<Gpt2Spec> read_gpt2(ConfigReader config);
Result<Llama4Spec> read_llama4(const ConfigReader& config);
Result<Graph> decoder_graph(const ApertusSpec& spec, const TensorFile& file,
                            const BuildOptions& options);
Result<Graph> decoder_graph(const Gpt2Spec& spec, const TensorFile& file,
                            const BuildOptions& options);
Result<Graph> decoder_graph(const Llama4Spec& spec, const TensorFile& file,
                            const BuildOptions& options);

Result<DecoderSpec> read_arcee(ConfigReader config);
Result<DecoderSpec> read_cohere(ConfigReader config);
Result<DecoderSpec> read_cohere2(ConfigReader config);
Result<DecoderSpec> read_ernie4_5(ConfigReader config);
Result<DecoderSpec> read_ernie4_5_moe(ConfigReader config);
Result<DecoderSpec> read_exaone4(ConfigReader config);
Result<DecoderSpec> read_gemma(ConfigReader config);
Result<DecoderSpec> read_gemma2(ConfigReader config);
Result<DecoderSpec> read_glm4(ConfigReader config);
Result<DecoderSpec> read_glm4_moe(ConfigReader config);
Result<DecoderSpec> read_gpt_neox(ConfigReader config);
Result<DecoderSpec> read_gpt_oss(ConfigReader config);
Result<DecoderSpec> read_granite(ConfigReader config);
Result<DecoderSpec> read_hunyuan(ConfigReader config);
Result<DecoderSpec> read_internlm2(ConfigReader config);
Result<DecoderSpec> read_idefics3(const ConfigReader& config);
Result<DecoderSpec> read_llama(ConfigReader config);
Result<DecoderSpec> read_llava(const ConfigReader& config);
Result<DecoderSpec> read_minicpm(ConfigReader config);
Result<DecoderSpec> read_minimax_m2(ConfigReader config);
Result<DecoderSpec> read_ministral3(ConfigReader config);
Result<DecoderSpec> read_mistral(ConfigReader config);
Result<DecoderSpec> read_mistral3(const ConfigReader& config);
Result<DecoderSpec> read_mixtral(ConfigReader config);
Result<DecoderSpec> read_olmo2(ConfigReader config);
Result<DecoderSpec> read_olmo3(ConfigReader config);
Result<DecoderSpec> read_opt(ConfigReader config);
Result<DecoderSpec> read_phi(ConfigReader config);
Result<DecoderSpec> read_phi3(ConfigReader config);
Result<DecoderSpec> read_qwen2(ConfigReader config);
Result<DecoderSpec> read_qwen2_vl(const ConfigReader& config);
Result<DecoderSpec> read_qwen2_5_vl(const ConfigReader& config);
Result<DecoderSpec> read_qwen3(ConfigReader config);
Result<DecoderSpec> read_qwen3_moe(ConfigReader config);
Result<DecoderSpec> read_qwen3_vl(const ConfigReader& config);
Result<DecoderSpec> read_qwen3_vl_moe(const ConfigReader& config);
Result<DecoderSpec> read_seed_oss(ConfigReader config);
Result<DecoderSpec> read_smollm3(ConfigReader config);
Result<DecoderSpec> read_stablelm(ConfigReader config);
Result<DecoderSpec> read_starcoder2(ConfigReader config);

}  // namespace tokamak
