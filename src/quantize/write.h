// Writes a GGUF file anew with the types of a plan.
#pragma once
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "quantize/plan.h"
#include "quantize/put_rows.h"

namespace tokamak {

struct WriteOptions {
  uint32_t threads = 1;            // the bytes do not depend on it
  const GgufFile* sums = nullptr;  // of importance.h; null: none
  /// Called before each tensor with the bytes of the new file so far.
  std::function<void(const TensorPlan& next, uint64_t done)> progress;
  Cancelled cancelled;
};

/// Keeps the metadata but general.file_type, general.quantization_version and the keys of a
/// split. Errors: those of reading and of the sink; a number that its new type cannot
/// hold, by tensor, row and column; kCancelled.
Result<void> write_quantized(const GgufFile& file, const QuantizationPlan& plan,
                             const WriteOptions& options, const ByteSink& sink);

}  // namespace tokamak
