#include <sys/mman.h>

#include "base/system/huge_pages.h"

namespace tokamak {

void ask_for_huge_pages(void* data, size_t bytes) {
  ::madvise(data, bytes, MADV_HUGEPAGE);
}

}  // namespace tokamak
