// Files of the operating system; native builds only (the browser hands over bytes itself).
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "formats/byte_source.h"
#include "formats/gguf.h"
#include "formats/tensor_file.h"

namespace tokamak {

/// Maps a regular file into memory. Directories, pipes, missing and unreadable files are errors
/// that name the path and the reason; an empty file is a source of 0 bytes. A file that becomes
/// shorter later is reported by the next view or read; touching the lost part of a view that was
/// handed out before is not protected.
Result<std::shared_ptr<ByteSource>> open_file(const std::string& path);

/// The whole of a small file. An error when it is larger than `max_bytes`.
Result<std::string> read_text_file(const std::string& path, uint64_t max_bytes);

/// True when `path` names something that exists, of whatever kind.
bool file_exists(const std::string& path);

/// True when `path` names a directory.
bool is_directory(const std::string& path);

/// One .safetensors file.
Result<TensorFile> open_safetensors_file(const std::string& path);

/// The tensors of a model folder in the Hugging Face layout: model.safetensors when it is there,
/// else the shards that model.safetensors.index.json names.
Result<TensorFile> open_safetensors_folder(const std::string& path);

/// A GGUF model. With any part of a split one, all parts are opened; an error names the missing.
Result<GgufFile> open_gguf(const std::string& path);

}  // namespace tokamak
