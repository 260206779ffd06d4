// The browser's module for texts leaves models that see, hear or speak to the whole module, which
// the page loads in its place: docs/decisions/0049-two-modules.md.
#include "model/arch.h"

namespace tokamak {
namespace {

Failure other_module(const ConfigReader& config) {
  return unsupported(
      "{}: models that see, hear or speak need the module tokamak_web_whole.wasm, but this is the "
      "one for texts.",
      config.where());
}

}  // namespace

Result<VisionTower> build_gemma3_vision(const ConfigReader& config, const TensorFile&,
                                        const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_gemma4_vision(const ConfigReader& config, const TensorFile&,
                                        const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_idefics3_vision(const ConfigReader& config, const TensorFile&,
                                          const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_llava_vision(const ConfigReader& config, const TensorFile&,
                                       const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_mistral3_vision(const ConfigReader& config, const TensorFile&,
                                          const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_qwen2_vl_vision(const ConfigReader& config, const TensorFile&,
                                          const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_qwen2_5_vl_vision(const ConfigReader& config, const TensorFile&,
                                            const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_qwen3_5_vision(const ConfigReader& config, const TensorFile&,
                                         const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_qwen3_5_moe_vision(const ConfigReader& config, const TensorFile&,
                                             const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_qwen3_vl_vision(const ConfigReader& config, const TensorFile&,
                                          const TowerBuild&) {
  return other_module(config);
}
Result<VisionTower> build_qwen3_vl_moe_vision(const ConfigReader& config, const TensorFile&,
                                              const TowerBuild&) {
  return other_module(config);
}

Result<ModelFacts> moonshine_facts(const ConfigReader& config) {
  return other_module(config);
}
Result<Graph> build_moonshine(const ConfigReader& config, const TensorFile&, const BuildOptions&) {
  return other_module(config);
}
Result<SpeechModel> build_moonshine_speech(const ConfigReader& config, const TensorFile&,
                                           const BuildOptions&) {
  return other_module(config);
}
Result<ModelFacts> moonshine_streaming_facts(const ConfigReader& config) {
  return other_module(config);
}
Result<Graph> build_moonshine_streaming(const ConfigReader& config, const TensorFile&,
                                        const BuildOptions&) {
  return other_module(config);
}
Result<SpeechModel> build_moonshine_streaming_speech(const ConfigReader& config, const TensorFile&,
                                                     const BuildOptions&) {
  return other_module(config);
}
Result<ModelFacts> whisper_facts(const ConfigReader& config) {
  return other_module(config);
}
Result<Graph> build_whisper(const ConfigReader& config, const TensorFile&, const BuildOptions&) {
  return other_module(config);
}
Result<SpeechModel> build_whisper_speech(const ConfigReader& config, const TensorFile&,
                                         const BuildOptions&) {
  return other_module(config);
}

Result<ModelFacts> kani_tts2_facts(const ConfigReader& config) {
  return other_module(config);
}
Result<Graph> build_kani_tts2(const ConfigReader& config, const TensorFile&, const BuildOptions&) {
  return other_module(config);
}
Result<VoiceModel> kani_tts2_voice(const ConfigReader& config, const TensorFile&) {
  return other_module(config);
}
Result<ModelFacts> nanocodec_facts(const ConfigReader& config) {
  return other_module(config);
}
Result<CodecModel> build_nanocodec(const ConfigReader& config, const TensorFile&) {
  return other_module(config);
}

}  // namespace tokamak
