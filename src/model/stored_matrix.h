// How a matrix lies in a checkpoint. Hugging Face's "X.weight" [rows, columns] is one of
//   plain   X.weight, f32, f16 or bf16
//   blocks  X.weight of a packed type: the blocks of a GGUF file
//   affine  X.weight u32 [rows, columns * bits / 32], the first q lowest, X.scales and X.biases
//           [rows, columns / group]: w = s q + b. MLX's mx.quantize.
//   gptq    X.qweight i32 [columns / 8, rows], X.qzeros i32 [groups, rows / 8], X.scales
//           [groups, rows], perhaps X.g_idx i32 [columns], the group of each column:
//           w = s (q - z - 1), AutoGPTQ's first format, or w = s (q - z), its second one. Files of
//           either call themselves "gptq"; zeros that are all the middle, 8, are of the second.
// The tensors decide, whatever the config or the repository call themselves.
#pragma once
#include <string>

#include "formats/tensor_file.h"
#include "model/quantization.h"

namespace tokamak {

struct StoredMatrix {
  enum class Format : uint8_t { kPlain, kBlocks, kAffine, kGptq };

  Format format = Format::kPlain;
  DType dtype = DType::kF32;  // a float type, or the packed one that says the same
  uint64_t rows = 0, columns = 0;
  const TensorInfo* weight = nullptr;  // of kGptq: qweight
  const TensorInfo* scales = nullptr;  // kAffine, kGptq
  const TensorInfo* zeros = nullptr;   // kAffine: biases, kGptq: qzeros
  const TensorInfo* groups = nullptr;  // kGptq: g_idx, unless it only counts columns up
  bool whole_zeros = false;            // kGptq: w = s (q - z)
  uint64_t group = 0;  // neighbours that share a scale in the file: a multiple of the type's
};

/// The matrix `name` ("X.weight"); tensors of more dimensions are rows of their last one. Errors
/// name the tensor: not there, no such shape, a packing that this engine does not read.
Result<StoredMatrix> locate(const TensorFile& file, const std::string& name, uint64_t columns);

/// The same for exactly `rows` rows, held against what config.json declares.
Result<StoredMatrix> locate(const TensorFile& file, const std::string& name, uint64_t rows,
                            uint64_t columns, const Quantization& declared);

/// The columns sorted by group, then by number. Errors: groups that are out of range or have not
/// exactly `stored.group` columns each. REQUIRES: stored.groups.
Result<std::vector<uint32_t>> column_order(const TensorFile& file, const StoredMatrix& stored);

}  // namespace tokamak
