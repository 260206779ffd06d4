// Writes a GGUF file anew with the types of a plan.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "quantize/plan.h"

namespace tokamak {

/// Takes the bytes of the file, from its beginning to its end.
using ByteSink = std::function<Result<void>(std::span<const std::byte>)>;

struct WriteOptions {
  uint32_t threads = 1;            // the bytes do not depend on it
  const GgufFile* sums = nullptr;  // of importance.h; null: none
  /// Called before each tensor with the bytes of the new file so far.
  std::function<void(const TensorPlan& next, uint64_t done)> progress;
  std::function<bool()> cancelled;
};

/// Keeps the metadata but general.file_type, general.quantization_version and the keys of a
/// split. Errors: those of reading and of the sink; a number that its new type cannot
/// hold, by tensor, row and column; kCancelled.
Result<void> write_quantized(const GgufFile& file, const QuantizationPlan& plan,
                             const WriteOptions& options, const ByteSink& sink);

}  // namespace tokamak
