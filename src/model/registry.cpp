#include "model/families.h"

namespace tokamak {
namespace {

// The row that model_type alone means comes before others of that type.
constexpr Architecture kArchitectures[] = {
    {"BertModel", "bert", bert_facts, build_bert},
    {"BertForMaskedLM", "bert", bert_facts, build_bert},
    {"BertForSequenceClassification", "bert", bert_ranker_facts, build_bert_ranker},
    {"CamembertModel", "camembert", roberta_facts, build_roberta},
    {"ApertusForCausalLM", "apertus", decoder_facts<read_apertus>, build_decoder<read_apertus>},
    {"ArceeForCausalLM", "arcee", decoder_facts<read_arcee>, build_decoder<read_arcee>},
    {"CohereForCausalLM", "cohere", decoder_facts<read_cohere>, build_decoder<read_cohere>},
    {"Cohere2ForCausalLM", "cohere2", decoder_facts<read_cohere2>, build_decoder<read_cohere2>},
    {"DeepseekV2ForCausalLM", "deepseek_v2", decoder_facts<read_deepseek_v2>,
     build_decoder<read_deepseek_v2>},
    {"DeepseekV3ForCausalLM", "deepseek_v3", decoder_facts<read_deepseek_v3>,
     build_decoder<read_deepseek_v3>},
    {"DistilBertModel", "distilbert", distilbert_facts, build_distilbert},
    {"DistilBertForMaskedLM", "distilbert", distilbert_facts, build_distilbert},
    {"Ernie4_5ForCausalLM", "ernie4_5", decoder_facts<read_ernie4_5>, build_decoder<read_ernie4_5>},
    {"Ernie4_5_ForCausalLM", "ernie4_5", decoder_facts<read_ernie4_5>,
     build_decoder<read_ernie4_5>},
    {"Ernie4_5_MoeForCausalLM", "ernie4_5_moe", decoder_facts<read_ernie4_5_moe>,
     build_decoder<read_ernie4_5_moe>},
    {"Exaone4ForCausalLM", "exaone4", decoder_facts<read_exaone4>, build_decoder<read_exaone4>},
    {"FalconH1ForCausalLM", "falcon_h1", decoder_facts<read_falcon_h1>,
     build_decoder<read_falcon_h1>},
    {"GPT2LMHeadModel", "gpt2", decoder_facts<read_gpt2>, build_decoder<read_gpt2>},
    {"GPTNeoXForCausalLM", "gpt_neox", decoder_facts<read_gpt_neox>, build_decoder<read_gpt_neox>},
    {"GemmaForCausalLM", "gemma", decoder_facts<read_gemma>, build_decoder<read_gemma>},
    {"Gemma2ForCausalLM", "gemma2", decoder_facts<read_gemma2>, build_decoder<read_gemma2>},
    {"Gemma3ForCausalLM", "gemma3_text", gemma3_facts, build_gemma3},
    {"Gemma3ForConditionalGeneration", "gemma3", gemma3_facts, build_gemma3, build_gemma3_vision},
    {"Gemma3TextModel", "gemma3_text", gemma3_facts, build_gemma3},
    {"Gemma4ForCausalLM", "gemma4_text", gemma4_facts, build_gemma4},
    {"Gemma4ForConditionalGeneration", "gemma4", gemma4_facts, build_gemma4, build_gemma4_vision},
    {"Glm4ForCausalLM", "glm4", decoder_facts<read_glm4>, build_decoder<read_glm4>},
    {"Glm4MoeForCausalLM", "glm4_moe", decoder_facts<read_glm4_moe>, build_decoder<read_glm4_moe>},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", decoder_facts<read_glm4_moe_lite>,
     build_decoder<read_glm4_moe_lite>},
    {"GptOssForCausalLM", "gpt_oss", decoder_facts<read_gpt_oss>, build_decoder<read_gpt_oss>},
    {"GraniteForCausalLM", "granite", decoder_facts<read_granite>, build_decoder<read_granite>},
    {"GraniteMoeHybridForCausalLM", "granitemoehybrid", decoder_facts<read_granite_hybrid>,
     build_decoder<read_granite_hybrid>},
    {"NewModel", "new", gte_facts, build_gte},
    {"GteModel", "gte", gte_facts, build_gte},
    {"NewForSequenceClassification", "new", gte_ranker_facts, build_gte_ranker},
    {"HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense", decoder_facts<read_hunyuan>,
     build_decoder<read_hunyuan>},
    {"InternLM2ForCausalLM", "internlm2", decoder_facts<read_internlm2>,
     build_decoder<read_internlm2>},
    {"Idefics3ForConditionalGeneration", "idefics3", decoder_facts<read_idefics3>,
     build_decoder<read_idefics3>, build_idefics3_vision},
    {"JinaBertModel", "bert", jina_bert_facts, build_jina_bert},
    {"JinaBertForMaskedLM", "bert", jina_bert_facts, build_jina_bert},
    {"JinaBertForSequenceClassification", "bert", jina_bert_ranker_facts, build_jina_bert_ranker},
    {"Lfm2ForCausalLM", "lfm2", decoder_facts<read_lfm2>, build_decoder<read_lfm2>},
    {"Lfm2MoeForCausalLM", "lfm2_moe", decoder_facts<read_lfm2_moe>, build_decoder<read_lfm2_moe>},
    {"KaniTTS2ForCausalLM", "lfm2", kani_tts2_facts, build_kani_tts2, nullptr, nullptr,
     kani_tts2_voice},
    {"LlamaForCausalLM", "llama", decoder_facts<read_llama>, build_decoder<read_llama>},
    {"Llama4ForCausalLM", "llama4_text", decoder_facts<read_llama4>, build_decoder<read_llama4>},
    {"Llama4ForConditionalGeneration", "llama4", decoder_facts<read_llama4>,
     build_decoder<read_llama4>},
    {"LlavaForConditionalGeneration", "llava", decoder_facts<read_llava>, build_decoder<read_llava>,
     build_llava_vision},
    {"MPNetModel", "mpnet", mpnet_facts, build_mpnet},
    {"MPNetForMaskedLM", "mpnet", mpnet_facts, build_mpnet},
    {"MiniCPMForCausalLM", "minicpm", decoder_facts<read_minicpm>, build_decoder<read_minicpm>},
    {"MiniMaxM2ForCausalLM", "minimax_m2", decoder_facts<read_minimax_m2>,
     build_decoder<read_minimax_m2>},
    {"Ministral3ForCausalLM", "ministral3", decoder_facts<read_ministral3>,
     build_decoder<read_ministral3>},
    {"Mistral3ForConditionalGeneration", "mistral3", decoder_facts<read_mistral3>,
     build_decoder<read_mistral3>, build_mistral3_vision},
    {"MistralForCausalLM", "mistral", decoder_facts<read_mistral>, build_decoder<read_mistral>},
    {"MixtralForCausalLM", "mixtral", decoder_facts<read_mixtral>, build_decoder<read_mixtral>},
    {"ModernBertModel", "modernbert", modernbert_facts, build_modernbert},
    {"ModernBertForMaskedLM", "modernbert", modernbert_facts, build_modernbert},
    {"ModernBertForSequenceClassification", "modernbert", modernbert_ranker_facts,
     build_modernbert_ranker},
    {"MoonshineForConditionalGeneration", "moonshine", moonshine_facts, build_moonshine, nullptr,
     build_moonshine_speech},
    {"MoonshineStreamingForConditionalGeneration", "moonshine_streaming", moonshine_streaming_facts,
     build_moonshine_streaming, nullptr, build_moonshine_streaming_speech},
    {"NanoCodecDecoder", "nanocodec", nanocodec_facts, nullptr, nullptr, nullptr, nullptr,
     build_nanocodec},
    {"NemotronHForCausalLM", "nemotron_h", decoder_facts<read_nemotron_h>,
     build_decoder<read_nemotron_h>},
    {"NomicBertModel", "nomic_bert", nomic_bert_facts, build_nomic_bert},
    {"Olmo2ForCausalLM", "olmo2", decoder_facts<read_olmo2>, build_decoder<read_olmo2>},
    {"Olmo3ForCausalLM", "olmo3", decoder_facts<read_olmo3>, build_decoder<read_olmo3>},
    {"OPTForCausalLM", "opt", decoder_facts<read_opt>, build_decoder<read_opt>},
    {"PhiForCausalLM", "phi", decoder_facts<read_phi>, build_decoder<read_phi>},
    {"Phi3ForCausalLM", "phi3", decoder_facts<read_phi3>, build_decoder<read_phi3>},
    {"Qwen2ForCausalLM", "qwen2", decoder_facts<read_qwen2>, build_decoder<read_qwen2>},
    {"Qwen2VLForConditionalGeneration", "qwen2_vl", decoder_facts<read_qwen2_vl>,
     build_decoder<read_qwen2_vl>, build_qwen2_vl_vision},
    {"Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", decoder_facts<read_qwen2_5_vl>,
     build_decoder<read_qwen2_5_vl>, build_qwen2_5_vl_vision},
    {"Qwen3ForCausalLM", "qwen3", decoder_facts<read_qwen3>, build_decoder<read_qwen3>},
    {"Qwen3_5ForCausalLM", "qwen3_5_text", decoder_facts<read_qwen3_5>,
     build_decoder<read_qwen3_5>},
    {"Qwen3_5ForConditionalGeneration", "qwen3_5", decoder_facts<read_qwen3_5>,
     build_decoder<read_qwen3_5>, build_qwen3_5_vision},
    {"Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", decoder_facts<read_qwen3_5_moe>,
     build_decoder<read_qwen3_5_moe>},
    {"Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe", decoder_facts<read_qwen3_5_moe>,
     build_decoder<read_qwen3_5_moe>, build_qwen3_5_moe_vision},
    {"Qwen3MoeForCausalLM", "qwen3_moe", decoder_facts<read_qwen3_moe>,
     build_decoder<read_qwen3_moe>},
    {"Qwen3Model", "qwen3", decoder_facts<read_qwen3>, build_decoder<read_qwen3>},
    {"Qwen3NextForCausalLM", "qwen3_next", decoder_facts<read_qwen3_next>,
     build_decoder<read_qwen3_next>},
    {"Qwen3VLForConditionalGeneration", "qwen3_vl", decoder_facts<read_qwen3_vl>,
     build_decoder<read_qwen3_vl>, build_qwen3_vl_vision},
    {"Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", decoder_facts<read_qwen3_vl_moe>,
     build_decoder<read_qwen3_vl_moe>, build_qwen3_vl_moe_vision},
    {"RobertaModel", "roberta", roberta_facts, build_roberta},
    {"RobertaForMaskedLM", "roberta", roberta_facts, build_roberta},
    {"RobertaForSequenceClassification", "roberta", roberta_ranker_facts, build_roberta_ranker},
    {"SeedOssForCausalLM", "seed_oss", decoder_facts<read_seed_oss>, build_decoder<read_seed_oss>},
    {"SmolLM3ForCausalLM", "smollm3", decoder_facts<read_smollm3>, build_decoder<read_smollm3>},
    {"SmolVLMForConditionalGeneration", "smolvlm", decoder_facts<read_idefics3>,
     build_decoder<read_idefics3>, build_idefics3_vision},
    {"StableLmForCausalLM", "stablelm", decoder_facts<read_stablelm>, build_decoder<read_stablelm>},
    {"Starcoder2ForCausalLM", "starcoder2", decoder_facts<read_starcoder2>,
     build_decoder<read_starcoder2>},
    {"WhisperForConditionalGeneration", "whisper", whisper_facts, build_whisper, nullptr,
     build_whisper_speech},
    {"XLMRobertaModel", "xlm-roberta", roberta_facts, build_roberta},
    {"XLMRobertaForMaskedLM", "xlm-roberta", roberta_facts, build_roberta},
    {"XLMRobertaForSequenceClassification", "xlm-roberta", roberta_ranker_facts,
     build_roberta_ranker},
};

}  // namespace

std::span<const Architecture> architectures() {
  return kArchitectures;
}

Result<const Architecture*> find_architecture(const ConfigReader& config) {
  ConfigReader reader = config;
  const std::vector<std::string> names = reader.words("architectures");
  const std::string type = reader.word("model_type", "");
  TOK_TRY(reader.status());
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (!names.empty() ? names.front() == architecture.name
                       : type == architecture.model_type && !config.has("architectures")) {
      return &architecture;
    }
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  if (names.empty() && (type.empty() || config.has("architectures"))) {
    return invalid_input("{}: architectures {}, expected one of {}.", config.where(),
                         config.has("architectures") ? "is empty" : "and model_type are missing",
                         known);
  }
  return unsupported(
      "{}: architecture \"{}\" is not supported; docs/models.md has the {} that are.",
      config.where(), names.empty() ? type : names.front(), std::size(kArchitectures));
}

}  // namespace tokamak
