// The element types of GGUF files: their numbers and blocks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/dtype.h"
#include "base/result.h"

namespace tokamak {

/// The type of that number in a file. Errors: a type that is known but not read is kUnsupported.
Result<DType> gguf_dtype(uint32_t number);

/// The inverse; nothing for a type that GGUF does not have.
std::optional<uint32_t> gguf_type_number(DType dtype);

/// The name that ggml gives a type, read or not; "type N" for a number that is not GGUF's.
std::string gguf_type_name(uint32_t number);

/// Neighbours along a row, and the bytes of the file that they share.
struct GgufBlock {
  uint32_t weights = 0, bytes = 0;
};

/// REQUIRES: a type that gguf_dtype() gives.
GgufBlock gguf_block(DType dtype);

}  // namespace tokamak
