// Decoders with the selective scan of Mamba-2 (arXiv:2405.21060) instead of attention, or beside
// it. References: transformers/models/granitemoehybrid/modeling_granitemoehybrid.py and
// falcon_h1/modeling_falcon_h1.py.
#pragma once
#include <vector>

#include "model/decoder.h"

namespace tokamak {

/// The part of a layer before its MLP.
enum class Mixer : uint8_t { kAttention, kScan, kBoth };

/// The norm around the gate of the scan's result.
enum class GateNorm : uint8_t { kNone, kBefore, kAfter };

struct Mamba2Config : DecoderSpec {
  uint32_t scan_heads, scan_head_dim, groups, states, taps;
  bool conv_bias, in_bias, out_bias;
  bool from_gguf;     // the file has -exp(A_log)
  float delta_least;  // bounds of a step's length
  float delta_most;   // 0: none
  GateNorm gate_norm;
  uint32_t norm_groups = 1;
  std::vector<Mixer> mixers;  // per layer
  // Factors of what the convolution reads, of dt, and of scan and attention where a layer has both.
  float x_factor = 1, b_factor = 1, c_factor = 1, dt_factor = 1;
  float scan_factor = 1, attention_factor = 1;
};

/// Reads the fields of the scan, which both families name the same.
Result<void> read_scan(ConfigReader& config, Mamba2Config& c);

Result<Mamba2Config> read_falcon_h1(const ConfigReader& config);
Result<Mamba2Config> read_granite_hybrid(const ConfigReader& config);

Result<Graph> decoder_graph(const Mamba2Config& c, const TensorFile& file,
                            const BuildOptions& options);

}  // namespace tokamak
