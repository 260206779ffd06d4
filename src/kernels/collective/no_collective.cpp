#include "kernels/collective/collective.h"

namespace tokamak {

std::span<const KernelVariant> collective_variants() {
  return {};
}

}  // namespace tokamak
