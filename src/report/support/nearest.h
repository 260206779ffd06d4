// The architecture whose tensors are most like those of a checkpoint: where to begin with one that
// nobody knows here.
#pragma once
#include <string>
#include <vector>

#include "formats/unread.h"
#include "model/arch.h"

namespace tokamak {

struct Nearest {
  const Architecture* architecture = nullptr;  // null: none has a tensor in common
  uint32_t wished = 0;                         // tensors that it asks for
  uint32_t found = 0;                          // those of them that the checkpoint has, in shape
  /// Names of the checkpoint that it does not ask for, layers as "*", each once.
  std::vector<std::string> unknown;
  std::string config_error;  // why it does not take the config; "" where it does
};

/// Lets every architecture build its graph from that config, on wishes.
Nearest nearest_architecture(const Json& config, const TensorFile& file,
                             const UnreadTensors& unread);

}  // namespace tokamak
