// A build without kernels for vectors of processors.
#include "base/check.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/variants.h"

namespace tokamak {

std::span<const KernelVariant> vector_variants() {
  return {};
}

// No matrix lies in panels.
void unpack_panel_row(const PanelLayout&, const std::byte*, uint64_t, std::span<float>) {
  TOK_CHECK(false);
}

}  // namespace tokamak
