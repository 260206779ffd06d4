// The browser's modules take no adapters: ModelFiles::adapters is always empty.
#include "model/lora.h"

namespace tokamak {
namespace {

Failure no_adapters() {
  return unsupported("A module for the browser takes no LoRA adapters.");
}

}  // namespace

std::string lora_prefix(size_t) {
  return {};
}

Result<void> add_adapters(Graph&, std::span<const LoraFiles>,
                          const std::function<void(std::string_view)>& /*notice*/) {
  return no_adapters();
}

Result<void> read_lora_stack(const TensorFile&, const TensorDesc&, Share, const WriteBytes&) {
  return no_adapters();
}

}  // namespace tokamak
