// The cache of --quantize: matrices that were rounded once, as the blocks of a GGUF file would hold
// them, in one .safetensors file per checkpoint and format. Native programs only.
#pragma once
#include <functional>
#include <string>

#include "formats/tensor_file.h"
#include "graph/graph.h"

namespace tokamak {

/// `tensors` with the matrices that `graph` wants as kQ8_0 or kQ4_0 taken from the cache in
/// `folder`. Makes the cache file first where there is none for these files (path, size, time of
/// the last change), or one that is damaged. Where the file cannot be kept, which `notice` is told,
/// or where nothing is wanted, the tensors as they are: the reader rounds them itself then.
Result<TensorFile> with_quantized_cache(const TensorFile& tensors, const Graph& graph,
                                        const std::string& folder,
                                        const std::function<void(const std::string&)>& notice = {});

}  // namespace tokamak
