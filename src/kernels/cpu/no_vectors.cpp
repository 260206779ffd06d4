// A build without kernels for vectors of processors.
#include "kernels/cpu/variants.h"

namespace tokamak {

std::span<const KernelVariant> vector_variants() {
  return {};
}

}  // namespace tokamak
