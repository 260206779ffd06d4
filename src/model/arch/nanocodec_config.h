// The fields of NanoCodec's decoder in config.json, with the names of NeMo's model_config.yaml.
#pragma once
#include <vector>

#include "model/config.h"

namespace tokamak {

struct NanoCodec {
  uint32_t sample_rate = 0, groups = 0, channels = 0, in_taps = 0, out_taps = 0;
  std::vector<uint32_t> levels, rates;
  std::vector<uint32_t> taps, dilations;  // of the chains of a residual layer, of their blocks

  uint32_t input() const { return groups * uint32_t(levels.size()); }
  uint32_t samples_per_frame() const;
  /// How far a residual layer looks back.
  uint32_t reach() const;
};

Result<NanoCodec> read_nanocodec(ConfigReader config);

}  // namespace tokamak
