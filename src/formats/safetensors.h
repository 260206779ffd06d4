// Reads safetensors: a little-endian u64 header length N, N bytes of JSON, then the tensors' bytes.
//
//   header  := { "__metadata__": {name: string}, NAME: tensor, ... }
//   tensor  := { "dtype": "BF16", "shape": [512, 64], "data_offsets": [begin, end] }
//
// Offsets count from the end of the header. The tensors must cover the rest of the file exactly:
// overlaps, holes and trailing bytes are errors, as in the reference implementation
// (huggingface/safetensors, safetensors/src/tensor.rs).
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/byte_source.h"
#include "formats/tensor_file.h"

namespace tokamak {

inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

/// "BF16". REQUIRES: a type of safetensors.
std::string_view safetensors_dtype_name(DType dtype);

/// One file. Errors name the source, the tensor, what was found and what was expected.
Result<TensorFile> read_safetensors(std::shared_ptr<ByteSource> source);

/// The content of model.safetensors.index.json.
struct SafetensorsIndex {
  std::vector<std::string> shards;                        // file names, sorted, each once
  std::vector<std::pair<std::string, uint32_t>> tensors;  // name -> index into `shards`
};

/// `name` is the index's own name, for messages. Names of shards must be plain file names.
Result<SafetensorsIndex> parse_safetensors_index(std::string_view name, std::string_view text);

/// The tensors of all shards; `sources` in the order of `index.shards`. A tensor that the index
/// does not place in the shard at hand is left out; one that its shard lacks is an error. The
/// metadata are those of the first shard.
Result<TensorFile> read_safetensors_shards(std::string_view index_name,
                                           const SafetensorsIndex& index,
                                           std::vector<std::shared_ptr<ByteSource>> sources);

}  // namespace tokamak
