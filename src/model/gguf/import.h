// GGUF as a checkpoint: its metadata become the config.json, and its tensors take the names, that
// the architectures of this engine read.
//
// References: ggml-org/llama.cpp, gguf-py/gguf/constants.py and tensor_mapping.py (keys, names),
// conversion/*.py (what a converter changes), src/models/*.cpp (what the architecture implies).
#pragma once
#include <optional>
#include <string_view>

#include "base/json.h"
#include "formats/gguf.h"
#include "formats/tensor_file.h"

namespace tokamak {

struct GgufModel {
  Json config;         // what a config.json would say
  TensorFile tensors;  // tensors with unknown names keep them
  // With a tower of images:
  std::optional<Json> image_processor;  // what a preprocessor_config.json would say
  std::string image_word;               // the token after the last one, which stands for images
};

/// An architecture or a key that this engine does not run is kUnsupported; every error names the
/// file and the key.
Result<GgufModel> import_gguf(const GgufFile& file);

/// Whether a file has a tower of images and what projects its rows (llama.cpp's "mmproj").
bool is_gguf_projector(const GgufMetadata& metadata);
/// An error where the tower is not one for that text, by its kind or its width, or is not read.
Result<void> check_projector(const GgufFile& text, const GgufFile& projector);
/// The text of `file` with the tower of `projector`.
Result<GgufModel> import_gguf(const GgufFile& file, const GgufFile& projector);

/// "Q4_K_M" for 15: the label of general.file_type; "" for a number without one.
std::string_view gguf_file_type_name(int64_t type);
/// The inverse.
std::optional<uint32_t> gguf_file_type_number(std::string_view name);

}  // namespace tokamak
