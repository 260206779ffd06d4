// Large pages of memory, which cost fewer misses of the table of pages.
#pragma once
#include <cstddef>

namespace tokamak {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;

/// Asks the system to hold that memory in huge pages; nothing is lost where it does not. `data` is
/// aligned to kHugePageBytes.
void ask_for_huge_pages(void* data, size_t bytes);

}  // namespace tokamak
