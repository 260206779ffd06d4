#include "base/huge_pages.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tokamak {

void ask_for_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) {
#ifdef __linux__
  ::madvise(data, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace tokamak
