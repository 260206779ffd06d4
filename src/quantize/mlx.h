// Writes folders of safetensors in MLX's affine packing (model/stored_matrix.h): groups of
// neighbours w = s q + b, in which the end that is farther from 0 keeps its value. Reference:
// ml-explore/mlx, mlx/backend/cpu/quantized.cpp, which tries one s and rounds it after the numbers.
#pragma once
#include <optional>

#include "graph/graph.h"
#include "quantize/write.h"

namespace tokamak {

struct MlxType {
  uint32_t bits = 4, group = 64;
};
/// The bits of "mlx2" to "mlx6" and "mlx8"; nothing for other names.
std::optional<uint32_t> mlx_bits(std::string_view type);

/// Packs the tensors of a folder that `graph` reads as plain matrices of products and embeddings,
/// but routers, where their rows have whole groups; others stay. REQUIRES: `model` outlives the
/// plan.
QuantizationPlan plan_mlx(const TensorFile& model, const Graph& graph, const MlxType& type);

/// The tensors that stand in the file for one of the plan: it, or the numbers, scales and biases.
std::vector<TensorInfo> stored_tensors(const TensorPlan& plan);

/// One of the model's files by the plan. Errors: as of write_quantized().
Result<void> write_mlx(const TensorFile& model, const QuantizationPlan& plan, uint32_t file,
                       const WriteOptions& options, const ByteSink& sink);

}  // namespace tokamak
