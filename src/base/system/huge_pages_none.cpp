// Systems that choose the size of pages themselves.
#include "base/system/huge_pages.h"

namespace tokamak {

void ask_for_huge_pages(void*, size_t) {}

}  // namespace tokamak
