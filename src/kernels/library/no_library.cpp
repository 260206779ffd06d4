#include "kernels/library/library.h"

namespace tokamak {

std::span<const KernelVariant> library_variants() {
  return {};
}

}  // namespace tokamak
