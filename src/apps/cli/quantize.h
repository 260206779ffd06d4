// The parts of `tokamak quantize`: files of GGUF and folders of MLX.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "quantize/mlx.h"

namespace tokamak::cli {

struct QuantizeFlags {
  std::string model, output, type = "q4_k_m", imatrix;
  std::vector<std::string> overrides;
  uint32_t threads = 0, group = 0;  // 0: not given
  bool dry_run = false, json = false, force = false, pull = false;

  uint32_t thread_count() const;
};

/// The table of --dry-run; `packed` is the type of what is rounded, "" where each has its own.
Result<void> print_plan(const QuantizationPlan& plan, bool as_json, std::string_view packed = "");
/// The line at the end; `kind` of matrices it has, `seconds` it took.
Result<void> print_result(const QuantizationPlan& plan, const QuantizeFlags& flags,
                          const std::string& kind, double seconds);

/// Writes a folder of safetensors in MLX's packing of that many bits.
Result<void> quantize_folder(const QuantizeFlags& flags, uint32_t bits);

}  // namespace tokamak::cli
