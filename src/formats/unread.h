// Opens headers whatever types their tensors have: those that this engine does not read are listed
// apart, where the functions of safetensors.h, gguf.h and native_files.h refuse the file.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf.h"
#include "formats/safetensors.h"

namespace tokamak {

struct UnreadTensor {
  std::string name;
  std::string type;  // in the words of the format: "IQ3_S", "type 41", "F4"
  std::vector<uint64_t> shape;
  uint64_t bytes = 0;  // GGUF: up to the next tensor
};
using UnreadTensors = std::vector<UnreadTensor>;

Result<TensorFile> read_safetensors(std::shared_ptr<ByteSource> source, UnreadTensors& unread);
Result<TensorFile> read_safetensors_shards(std::string_view index_name,
                                           const SafetensorsIndex& index,
                                           std::vector<std::shared_ptr<ByteSource>> sources,
                                           UnreadTensors& unread);
Result<GgufPart> read_gguf_part(std::shared_ptr<ByteSource> source, UnreadTensors& unread);

// By path, in native builds only.
Result<TensorFile> open_safetensors_folder(const std::string& path, UnreadTensors& unread);
Result<GgufFile> open_gguf(const std::string& path, UnreadTensors& unread);

}  // namespace tokamak
