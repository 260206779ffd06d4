// Kani-TTS-2: an LFM2 whose tokens, after a text, are the codes of NanoCodec. Reference: the code
// that is published with the model (nineninesix/kani-tts-2); arXiv:2511.23404 for LFM2.
//
// The differences from LFM2:
//   the tokens of a frame of sound share a position (model/voice.h)
//   each layer with attention turns by its own multiple of the frequencies: alpha_min +
//   (alpha_max - alpha_min) sigmoid(w), w being a number of the checkpoint
//   the row after the first token may be that of a speaker, made of numbers that describe them
#include <cmath>

#include "base/packing.h"
#include "model/arch.h"
#include "model/arch/lfm2.h"
#include "model/scalar.h"

namespace tokamak {
namespace {

constexpr const char* kSpeakers = "model.speaker_emb_projection.weight";

struct Config : Lfm2Config {
  uint32_t audio_start, groups, speaker_size;
  double step, alpha_min, alpha_max;
  bool has_alphas;
};

Result<Config> read(ConfigReader config) {
  Config c{};
  TOK_TRY(static_cast<Lfm2Config&>(c), read_lfm2(config));
  c.own_angles = true;
  c.audio_start = config.size("audio_tokens_start");
  c.groups = config.size("tokens_per_frame", 4);
  c.step = config.positive("audio_step", 1.0);
  c.speaker_size = config.count("speaker_emb_dim", 128);
  c.has_alphas = config.flag("use_learnable_rope", false);
  c.alpha_min = config.positive("alpha_min", 0.1);
  c.alpha_max = config.positive("alpha_max", 2.0);
  TOK_TRY(config.status());
  constexpr uint32_t kSpecial = 10, kMaxGroups = 64;
  const bool has_codes = c.audio_start >= kSpecial && c.audio_start < c.vocab &&
                         c.groups <= kMaxGroups && (c.vocab - c.audio_start) % c.groups == 0;
  if (has_codes) return c;
  return invalid_input(
      "{} is {} and tokens_per_frame {}, which do not divide a vocabulary of {} into text and "
      "codebooks.",
      config.path("audio_tokens_start"), c.audio_start, c.groups, c.vocab);
}

std::vector<float> scaled(std::vector<float> frequencies, double factor) {
  for (float& frequency : frequencies) frequency *= float(factor);
  return frequencies;
}

Result<std::vector<float>> read_speakers(const TensorFile& file, const Config& c) {
  const TensorInfo& info = *file.find(kSpeakers);
  const std::vector<uint64_t> shape = {c.hidden, c.speaker_size};
  if (info.shape != shape || !is_float_weight(info.dtype)) {
    return invalid_input("{}: tensor \"{}\" is {}, expected floats of [{}, {}].",
                         file.file_name(info), kSpeakers, describe(info), c.hidden, c.speaker_size);
  }
  TOK_TRY(const FileBytes bytes, file.data(info));
  std::vector<float> out(size_t{c.hidden} * c.speaker_size);
  const size_t each = bytes.size() / out.size();
  for (size_t i = 0; i < out.size(); ++i) out[i] = number_at(info.dtype, bytes.data() + i * each);
  return out;
}

bool has_speakers(const TensorFile& file, const Config& c) {
  return c.speaker_size > 0 && file.find(kSpeakers) != nullptr;
}

}  // namespace

Result<ModelFacts> kani_tts2_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  ModelFacts facts{"KaniTTS2ForCausalLM", c.vocab, c.layers, c.max_context, c.hidden};
  facts.speaks = true;
  return facts;
}

Result<VoiceModel> kani_tts2_voice(const ConfigReader& config, const TensorFile& file) {
  TOK_TRY(const Config c, read(config));
  const uint32_t special = c.audio_start - 10;
  VoiceModel out{.audio_start = c.audio_start,
                 .groups = c.groups,
                 .codes = (c.vocab - c.audio_start) / c.groups,
                 .step = c.step,
                 .start_of_speech = special + 1,
                 .end_of_speech = special + 2,
                 .start_of_human = special + 3,
                 .end_of_human = special + 4,
                 .start_of_ai = special + 5,
                 .frequencies = {},
                 .speakers = {}};
  for (uint32_t i = 0; i < c.layers; ++i) {
    if (!c.full[i]) continue;
    double alpha = 1;
    if (c.has_alphas) {
      TOK_TRY(const float weight,
              scalar(file, fmt::format("model.learnable_rope_layers.{}.alpha_weight", i)));
      alpha = c.alpha_min + (c.alpha_max - c.alpha_min) / (1 + std::exp(-double(weight)));
    }
    out.frequencies.emplace(i, scaled(c.rope.inverse_frequencies, alpha));
  }
  if (has_speakers(file, c)) {
    TOK_TRY(out.speakers, read_speakers(file, c));
    out.speaker_size = c.speaker_size;
  }
  return out;
}

Result<Graph> build_kani_tts2(const ConfigReader& config, const TensorFile& file,
                              const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  BuildOptions own = options;
  if (has_speakers(file, c)) own.image_rows = 1;
  return decoder_graph(c, file, own);
}

}  // namespace tokamak
