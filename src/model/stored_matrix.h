// How a matrix lies in a checkpoint. Hugging Face's "X.weight" [rows, columns] is one of
//   plain   X.weight, f32, f16 or bf16; of matrices in one tensor each may be [columns, rows]
//   blocks  X.weight of a packed type: the blocks of a GGUF file; X.scale, a factor of NVFP4
//   affine  X.weight u32 [rows, columns * bits / 32], the first q lowest, X.scales and X.biases
//           [rows, columns / group]: w = s q + b. MLX's mx.quantize.
//   gptq    X.qweight i32 [columns * bits / 32, rows], X.qzeros i32 [groups, rows * bits / 32],
//           X.scales [groups, rows], perhaps X.g_idx i32 [columns], the group of each column:
//           w = s (q - z - 1), AutoGPTQ's first format, or w = s (q - z), its second one. Files of
//           either call themselves "gptq"; where all zeros are the middle of the numbers they are
//           of the second, where all are one less of the first, and else the config decides.
//   awq     X.qweight i32 [columns, rows / 8], X.qzeros i32 [groups, rows / 8], X.scales
//           [groups, rows]: w = s (q - z)
//   scaled  X.weight f8e4m3 or i8 [rows, columns], X.weight_scale, X.weight_scale_inv or X.SCB,
//           one for all, for each row or for each 128 x 128 block: w = s v. Not X.input_scale.
//   micro   f4e2m1 in bytes, the first number low, or f8e4m3, with a byte of scale for each group:
//           X.weight_packed or X.weight u8, X.weight_scale; MLX: X.weight u32, X.scales u8;
//           gpt-oss: X_blocks u8 [..., rows, groups, 16], X_scales. NVFP4
//           has a factor for the whole matrix beside them.
//   packed  X.weight_packed i32 [rows, columns * bits / 32], q + 2^(bits-1), X.weight_scale
//           [rows, groups], perhaps X.weight_zero_point i32 [rows * bits / 32, groups]
//   nf4     X.weight u8 of all numbers, the first one high, X.weight.absmax and its companions
// The tensors decide, whatever the config or the repository call themselves.
#pragma once
#include <string>

#include "formats/tensor_file.h"
#include "model/quantization.h"

namespace tokamak {

/// The format of GPTQ's zeros, as far as they show it.
enum class ZeroFormat : uint8_t { kUnknown, kOneLess, kWhole };

struct StoredMatrix {
  enum class Format : uint8_t {
    kPlain,
    kBlocks,
    kAffine,
    kGptq,
    kAwq,
    kScaled,
    kMicro,
    kPacked,
    kNf4
  };

  Format format = Format::kPlain;
  DType dtype = DType::kF32;  // a float type, or the packed one that says the same
  uint64_t rows = 0, columns = 0;
  bool transposed = false;  // kPlain: [columns, rows], or [matrices, columns, rows / matrices]
  const TensorInfo* weight = nullptr;             // of kGptq and kAwq: qweight
  const TensorInfo* scales = nullptr;             // but kPlain and kBlocks
  const TensorInfo* zeros = nullptr;              // kAffine: biases, kGptq, kAwq and kPacked: zeros
  const TensorInfo* factor = nullptr;             // kMicro, kBlocks: of the whole matrix, perhaps
  const TensorInfo* groups = nullptr;             // kGptq: g_idx, unless it only counts columns up
  ZeroFormat zero_format = ZeroFormat::kUnknown;  // kGptq; the type takes this for kOneLess
  uint64_t group = 0;  // neighbours that share a scale in the file: a multiple of the type's
};

/// Whether a marked matrix, or a tensor of several matrices, has [columns, rows]. The shape of
/// several that are square leaves that open; they are taken as [rows, columns].
bool is_transposed(const TensorInfo& tensor, uint64_t columns);

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
