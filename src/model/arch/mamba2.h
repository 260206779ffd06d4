// Decoders with the selective scan of Mamba-2 (arXiv:2405.21060) instead of attention, or beside
// it. References: transformers/models/granitemoehybrid/modeling_granitemoehybrid.py,
// falcon_h1/modeling_falcon_h1.py and nemotron_h/modeling_nemotron_h.py.
#pragma once
#include <vector>

#include "model/decoder.h"

namespace tokamak {

/// The part of a layer before its MLP, or where layers have one part each, that.
enum class Mixer : uint8_t { kAttention, kScan, kBoth, kMlp };

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
  bool one_part;              // of each layer: there is no MLP but where mixers has one
  std::string_view scan = "mamba.";
  // Factors of what the convolution reads, of dt, and of scan and attention where a layer has both.
  float x_factor = 1, b_factor = 1, c_factor = 1, dt_factor = 1;
  float scan_factor = 1, attention_factor = 1;
};

/// The fields of the scan in config.json.
struct ScanFields {
  std::string_view heads = "mamba_n_heads", head_dim = "mamba_d_head", groups = "mamba_n_groups";
  std::string_view states = "mamba_d_state", taps = "mamba_d_conv", conv_bias = "mamba_conv_bias";
  std::string_view bias = "mamba_proj_bias";
};

/// Reads them, of a scan of `inner` elements.
Result<void> read_scan(ConfigReader& config, Mamba2Config& c, uint64_t inner,
                       const ScanFields& fields = {});
/// The elements of the scan of Granite and Falcon.
uint64_t read_inner(ConfigReader& config, uint32_t hidden);

Result<Mamba2Config> read_falcon_h1(const ConfigReader& config);
Result<Mamba2Config> read_granite_hybrid(const ConfigReader& config);
Result<Mamba2Config> read_nemotron_h(const ConfigReader& config);

Result<Graph> decoder_graph(const Mamba2Config& c, const TensorFile& file,
                            const BuildOptions& options);

}  // namespace tokamak
