// The state of a module as torch.save writes it: a pickle that says which storage has which tensor.
// Unpickling is a program of its file; this reader runs none of it. It knows a dictionary, tensors
// and types of elements by their names, and refuses every other name.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace tokamak {

/// A tensor whose elements follow one another in a storage.
struct PickledTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;
  std::string storage;        // a file beside the pickle
  uint64_t storage_size = 0;  // elements of that
  uint64_t first = 0;         // its first element there
  uint64_t elements = 1;      // the product of the shape
};

/// A pickle of more bytes is refused.
inline constexpr uint64_t kMaxPickleBytes = uint64_t{4} << 20;

/// The tensors of an OrderedDict by their names, in its order, each inside its storage. Errors name
/// the byte, and what was found and expected there.
Result<std::vector<PickledTensor>> read_torch_pickle(std::span<const std::byte> pickle);

}  // namespace tokamak
