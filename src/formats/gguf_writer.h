// Writes the header of GGUF files, in the layout of gguf.h. Entries go from file to file as they
// are, whatever their types. Native builds only.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/byte_source.h"
#include "formats/tensor_file.h"

namespace tokamak {

/// An entry of the metadata in the bytes of a file: key, type and value.
struct GgufEntry {
  std::string key, bytes;
};

/// All entries of a file, in its order. Errors: no GGUF file.
Result<std::vector<GgufEntry>> read_gguf_entries(const ByteSource& source);

/// An entry of 32 bits without a sign.
GgufEntry gguf_entry(std::string_view key, uint32_t value);

/// An entry of a text, and one of several.
GgufEntry gguf_entry(std::string_view key, std::string_view text);
GgufEntry gguf_entry(std::string_view key, const std::vector<std::string>& texts);

/// Replaces the entry of the same key, or adds one at the end.
void set_gguf_entry(std::vector<GgufEntry>& entries, GgufEntry entry);

/// The header of a file of these tensors, filled up to a multiple of `alignment`, where their data
/// begin: each tensor at the next multiple of it after the one before. REQUIRES: types and
/// `bytes` are GGUF's.
std::string gguf_header(const std::vector<GgufEntry>& entries,
                        const std::vector<TensorInfo>& tensors, uint64_t alignment);

}  // namespace tokamak
