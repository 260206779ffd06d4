#include "generate/page_tables.h"

namespace tokamak {

std::vector<PageTable> page_tables(const Plan& plan) {
  std::vector<PageTable> tables;
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    const TensorDesc& tensor = plan.buffers[i].tensor;
    if (plan.buffers[i].use != BufferUse::kTable) continue;
    PageTable table{.buffer = BufferId(i), .pages = uint32_t(tensor.shape[0])};
    for (const Buffer& cache : plan.buffers) {
      if (!is_kv_cache(cache) || cache.tensor.window != tensor.window) continue;
      const uint32_t pages = uint32_t(cache.tensor.shape[0]) / kPageTokens;
      (tensor.window == 0 ? table.pool : table.ring) =
          tensor.window == 0 ? pages : pages / plan.slots;
    }
    tables.push_back(table);
  }
  return tables;
}

std::vector<uint32_t> equal_part(const PageTable& table, uint32_t slot) {
  std::vector<uint32_t> pages(table.pages);
  for (uint32_t i = 0; i < table.pages; ++i) {
    pages[i] = table.ring > 0 ? slot * table.ring + i % table.ring
                              : (slot * table.pages + i) % std::max(table.pool, 1u);
  }
  return pages;
}

}  // namespace tokamak
