// Architectures: from config.json and a checkpoint's tensors to a graph. One file each in arch/.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"
#include "model/codec.h"
#include "model/config.h"
#include "model/model_builder.h"
#include "model/speech.h"
#include "model/vision.h"
#include "model/voice.h"

namespace tokamak {

/// How the logit that a cross-encoder gives of a pair of texts becomes a score.
enum class ScoreFunction : uint8_t { kSigmoid, kIdentity };

/// The facts that the engine needs beside the graph.
struct ModelFacts {
  std::string architecture;  // as config.json names it
  uint32_t vocab = 0;
  uint32_t layers = 0;
  uint32_t max_context = 0;  // positions the model was trained for
  uint32_t hidden = 0;       // columns of the last hidden states
  bool causal = true;        // false: every token sees all others; no text, in one step
  RopeTable rope;            // of layers that see everything
  /// Set: a cross-encoder, whose result is a logit for each sequence, a pair of texts.
  std::optional<ScoreFunction> score = std::nullopt;
  bool fits_f16 = false;  // what its products read stays far below 65504, as in all of its kind
  bool hears = false;     // a model that writes down what it hears: build() is its decoder
  bool speaks = false;    // its tokens after a text are the codes of a sound
  bool is_codec = false;  // what makes a sound from codes: codec() instead of build()
};

struct Architecture {
  std::string_view name;        // an entry of config.json's "architectures"
  std::string_view model_type;  // used when "architectures" is absent
  Result<ModelFacts> (*facts)(const ConfigReader&);
  /// Null where it is a codec.
  Result<Graph> (*build)(const ConfigReader&, const TensorFile&, const BuildOptions&);
  /// Its vision tower; null where it reads text only.
  Result<VisionTower> (*vision)(const ConfigReader&, const TensorFile&,
                                const TowerBuild&) = nullptr;
  /// The model that it recognizes speech with; null where it does not.
  Result<SpeechModel> (*speech)(const ConfigReader&, const TensorFile&,
                                const BuildOptions&) = nullptr;
  /// How it speaks; null where it does not.
  Result<VoiceModel> (*voice)(const ConfigReader&, const TensorFile&) = nullptr;
  /// The codec that it makes sound of codes with; null where it does not.
  Result<CodecModel> (*codec)(const ConfigReader&, const TensorFile&) = nullptr;
};

std::span<const Architecture> architectures();

/// The architecture that config.json names; kUnsupported listing the known ones otherwise.
Result<const Architecture*> find_architecture(const ConfigReader& config);

// One line per file in arch/.
Result<ModelFacts> gemma3_facts(const ConfigReader&);
Result<Graph> build_gemma3(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<VisionTower> build_gemma3_vision(const ConfigReader&, const TensorFile&, const TowerBuild&);
Result<ModelFacts> gemma4_facts(const ConfigReader&);
Result<Graph> build_gemma4(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<VisionTower> build_gemma4_vision(const ConfigReader&, const TensorFile&, const TowerBuild&);
Result<VisionTower> build_idefics3_vision(const ConfigReader&, const TensorFile&,
                                          const TowerBuild&);
Result<VisionTower> build_llava_vision(const ConfigReader&, const TensorFile&, const TowerBuild&);
Result<ModelFacts> kani_tts2_facts(const ConfigReader&);
Result<Graph> build_kani_tts2(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<VoiceModel> kani_tts2_voice(const ConfigReader&, const TensorFile&);
Result<VisionTower> build_mistral3_vision(const ConfigReader&, const TensorFile&,
                                          const TowerBuild&);
Result<VisionTower> build_qwen2_vl_vision(const ConfigReader&, const TensorFile&,
                                          const TowerBuild&);
Result<VisionTower> build_qwen2_5_vl_vision(const ConfigReader&, const TensorFile&,
                                            const TowerBuild&);
Result<VisionTower> build_qwen3_5_vision(const ConfigReader&, const TensorFile&, const TowerBuild&);
Result<VisionTower> build_qwen3_5_moe_vision(const ConfigReader&, const TensorFile&,
                                             const TowerBuild&);
Result<VisionTower> build_qwen3_vl_vision(const ConfigReader&, const TensorFile&,
                                          const TowerBuild&);
Result<VisionTower> build_qwen3_vl_moe_vision(const ConfigReader&, const TensorFile&,
                                              const TowerBuild&);
// Models that hear.
Result<ModelFacts> moonshine_facts(const ConfigReader&);
Result<Graph> build_moonshine(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<SpeechModel> build_moonshine_speech(const ConfigReader&, const TensorFile&,
                                           const BuildOptions&);
Result<ModelFacts> moonshine_streaming_facts(const ConfigReader&);
Result<Graph> build_moonshine_streaming(const ConfigReader&, const TensorFile&,
                                        const BuildOptions&);
Result<SpeechModel> build_moonshine_streaming_speech(const ConfigReader&, const TensorFile&,
                                                     const BuildOptions&);
Result<ModelFacts> whisper_facts(const ConfigReader&);
Result<Graph> build_whisper(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<SpeechModel> build_whisper_speech(const ConfigReader&, const TensorFile&,
                                         const BuildOptions&);
// Codecs, for models that speak.
Result<ModelFacts> nanocodec_facts(const ConfigReader&);
Result<CodecModel> build_nanocodec(const ConfigReader&, const TensorFile&);
// Encoders, and those with a classifier at their end: rankers.
Result<ModelFacts> bert_facts(const ConfigReader&);
Result<Graph> build_bert(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> bert_ranker_facts(const ConfigReader&);
Result<Graph> build_bert_ranker(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> roberta_facts(const ConfigReader&);
Result<Graph> build_roberta(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> roberta_ranker_facts(const ConfigReader&);
Result<Graph> build_roberta_ranker(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> mpnet_facts(const ConfigReader&);
Result<Graph> build_mpnet(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> distilbert_facts(const ConfigReader&);
Result<Graph> build_distilbert(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> gte_facts(const ConfigReader&);
Result<Graph> build_gte(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> jina_bert_facts(const ConfigReader&);
Result<Graph> build_jina_bert(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> jina_bert_ranker_facts(const ConfigReader&);
Result<Graph> build_jina_bert_ranker(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> gte_ranker_facts(const ConfigReader&);
Result<Graph> build_gte_ranker(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> modernbert_facts(const ConfigReader&);
Result<Graph> build_modernbert(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> modernbert_ranker_facts(const ConfigReader&);
Result<Graph> build_modernbert_ranker(const ConfigReader&, const TensorFile&, const BuildOptions&);
Result<ModelFacts> nomic_bert_facts(const ConfigReader&);
Result<Graph> build_nomic_bert(const ConfigReader&, const TensorFile&, const BuildOptions&);

}  // namespace tokamak
