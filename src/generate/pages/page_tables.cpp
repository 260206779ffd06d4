#include "generate/pages/page_tables.h"

#include <algorithm>
#include <variant>

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

uint32_t pool_size(std::span<const PageTable> tables) {
  uint32_t pages = 0;
  for (const PageTable& table : tables) pages = std::max(pages, table.pool);
  return pages;
}

uint32_t window_spare(const Plan& plan) {
  uint32_t spare = UINT32_MAX;
  for (const Buffer& buffer : plan.buffers) {
    if (!is_kv_cache(buffer) || buffer.tensor.window == 0) continue;
    const auto cells = uint32_t(buffer.tensor.shape[0]) / plan.slots;
    spare = std::min(spare, cells - std::min(cells, buffer.tensor.window));
  }
  return spare;
}

uint32_t short_rotary_rows(const Plan& plan) {
  uint32_t rows = 0;
  for (const Buffer& buffer : plan.buffers) {
    const auto* rope = std::get_if<RopeTable>(&buffer.tensor.recipe);
    if (rope != nullptr) rows = std::max(rows, rope->short_rows);
  }
  return rows;
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
