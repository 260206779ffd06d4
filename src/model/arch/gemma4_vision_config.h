// The fields of config.json and preprocessor_config.json for the vision tower of Gemma 4.
// Reference: transformers/models/gemma4/configuration_gemma4.py, Gemma4VisionConfig.
#pragma once
#include "graph/ops.h"
#include "model/config.h"

namespace tokamak {

struct Gemma4VisionConfig {
  uint32_t layers, hidden, heads, head_dim, ffn, patch, side, positions, out;
  uint32_t tokens;  // of the largest image, whatever the limit of pixels
  float eps;
  Activation activation;
  bool clips;           // products take and give numbers between limits that the checkpoint has
  bool channels_apart;  // a patch has all pixels of one channel, then those of the next
  bool standardizes;    // averaged rows are shifted and scaled by column
};

/// `whole` is config.json, `processor` preprocessor_config.json or null; `out` is the width of the
/// text model.
Result<Gemma4VisionConfig> read_gemma4_vision(const ConfigReader& whole, const Json* processor);

}  // namespace tokamak
