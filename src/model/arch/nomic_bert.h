// The fields of config.json of NomicBERT.
#pragma once
#include "model/arch/encoder.h"
#include "model/decoder.h"

namespace tokamak {

struct NomicConfig : EncoderConfig {
  uint32_t types = 0;
  bool qkv_bias = false, up_bias = false, down_bias = false;
  bool gated = true;  // the MLPs
  std::optional<Mixture> mixture;
  RopeTable rope;
};

Result<NomicConfig> read_nomic_bert(ConfigReader config);

}  // namespace tokamak
