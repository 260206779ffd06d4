// Any bytes as NeMo's file, as a pickle and as YAML: an error or tensors inside the file.
#include "formats/nemo.h"

#include <cstdint>

#include "base/check.h"
#include "formats/torch_pickle.h"
#include "formats/yaml.h"

using namespace tokamak;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(input);
  if (const auto nemo = read_nemo(memory_source("fuzz", {begin, begin + size}))) {
    for (const TensorInfo& tensor : nemo->tensors.tensors()) {
      const auto bytes = nemo->tensors.data(tensor);
      TOK_CHECK(bytes && bytes->size() == tensor.elements() * dtype_bytes(tensor.dtype));
    }
  }
  if (const auto tensors = read_torch_pickle({begin, size})) {
    for (const PickledTensor& tensor : *tensors) {
      TOK_CHECK(tensor.elements <= tensor.storage_size);
      TOK_CHECK(tensor.first <= tensor.storage_size - tensor.elements);
    }
  }
  (void)parse_yaml({reinterpret_cast<const char*>(input), size});
  return 0;
}
