// The decoder of Moonshine, which its streaming relatives have as well.
#pragma once
#include <string>

#include "model/arch.h"

namespace tokamak {

inline constexpr float kMoonshineEps = 1e-5f;

/// Heads that turn in pairs of neighbours, as far as they turn.
struct PairedHeads {
  uint32_t count = 0, dim = 0;
  RopeTable rope;
};

/// `count` heads of `hidden` elements together, the reference's default for how much of them turns
/// being `part`.
Result<PairedHeads> read_paired_heads(ConfigReader& config, uint32_t count, uint32_t hidden,
                                      double part);
/// q or k: a product with the matrix `name`, turned. `table` names the angles.
ValueId turned_projection(SpeechBuilder& b, const PairedHeads& heads, ValueId x,
                          const std::string& name, const char* table);

struct MoonshineDecoder {
  uint32_t vocab = 0, hidden = 0, ffn = 0, layers = 0, context = 0, start = 0;
  Activation activation = Activation::kSilu;
  PairedHeads heads;
  bool tied = true;
};

ModelFacts moonshine_facts(const char* architecture, const MoonshineDecoder& c);

/// The decoder's graph: norms without a bias, attention to itself and to what was heard, a gate.
/// `frames`: most rows of the encoder.
Result<Graph> build_moonshine_decoder(const MoonshineDecoder& c, const TensorFile& file,
                                      const BuildOptions& options, uint32_t frames);

/// Keeps what all layers will attend to. x: the encoder's rows.
void keep_for_decoder(SpeechBuilder& b, const MoonshineDecoder& c, ValueId x);

}  // namespace tokamak
