// Low-rank adapters (LoRA, arXiv:2106.09685) in a graph: y = x Wᵀ becomes y + s B A x in the rows
// of an adapter's sequences. Files are PEFT's: peft/utils/save_and_load.py says how tensors are
// named.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/pieces.h"
#include "formats/tensor_file.h"
#include "graph/graph.h"

namespace tokamak {

/// The content of an adapter's folder, read but not interpreted.
struct LoraFiles {
  std::string name;   // by which requests ask for it
  std::string where;  // the folder, for messages
  double scale = 1;   // of all it adds, beside its own
  Json config;        // adapter_config.json
  TensorFile tensors;
};

/// In front of the names of tensors of adapter `index` where those of all are together.
std::string lora_prefix(size_t index);

/// Adds what each adapter adds to products; adapter 0 of `adapters` is 1 in Slot::adapter. Products
/// that have the same x share a LoraDown, so that x is read once for them. `notice` gets a sentence
/// for each pattern of alpha_pattern that fits no module of its adapter.
/// Errors name the file and the tensor, what was found and what was expected: an adapter of another
/// model, an A without a B, tensors of no product, what read_lora_config() refuses.
Result<void> add_adapters(Graph& graph, std::span<const LoraFiles> adapters,
                          const std::function<void(std::string_view)>& notice = {});

/// The bytes of such a constant; see read_constant().
Result<void> read_lora_stack(const TensorFile& file, const TensorDesc& constant, Share share,
                             const WriteBytes& write);

}  // namespace tokamak
