#include "kernels/batch.h"

#include <cstring>

#include "base/check.h"

namespace tokamak {

void write_batch(const BatchLayout& layout, std::span<const Slot> slots,
                 std::span<const uint32_t> ids, std::span<const uint32_t> outputs,
                 std::vector<std::byte>& bytes) {
  TOK_CHECK(!slots.empty() && slots.size() <= layout.slots && ids.size() <= layout.rows);
  TOK_CHECK(outputs.size() <= layout.slots);
  bytes.assign(layout.ids_offset() + ids.size_bytes(), std::byte{0});
  const auto words = [&](uint32_t offset) {
    return reinterpret_cast<uint32_t*>(bytes.data() + offset);
  };
  BatchView view(layout, bytes.data());
  uint32_t row = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    view.slot(i) = slots[i];
    view.slot(i).start = row;
    TOK_CHECK(slots[i].count > 0 && slots[i].count <= ids.size() - row);
    for (uint32_t end = row + slots[i].count; row < end; ++row) {
      if (layout.slots > 1) words(layout.row_slots_offset())[row] = uint32_t(i);
    }
    if (outputs.empty()) words(layout.outputs_offset())[i] = row - 1;
  }
  TOK_CHECK(row == ids.size());
  if (!outputs.empty()) {
    std::memcpy(words(layout.outputs_offset()), outputs.data(), outputs.size_bytes());
  }
  std::memcpy(words(layout.ids_offset()), ids.data(), ids.size_bytes());
  const auto count = uint32_t(outputs.empty() ? slots.size() : outputs.size());
  const BatchHeader header = {.rows = row, .slots = uint32_t(slots.size()), .outputs = count};
  std::memcpy(bytes.data(), &header, sizeof(header));
}

}  // namespace tokamak
