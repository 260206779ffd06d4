#include <gtest/gtest.h>

#include "kernels/launch.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

/// The fields of a struct of a shader, each of four bytes.
std::vector<std::string> fields_of(std::string_view text, std::string_view name) {
  std::vector<std::string> fields;
  const size_t begin = text.find(fmt::format("struct {} {{", name));
  std::string_view body = text.substr(begin, text.find('}', begin) - begin);
  for (size_t colon = body.find(": "); colon != body.npos; colon = body.find(": ")) {
    const size_t start = body.rfind(' ', colon - 1) + 1;
    fields.emplace_back(body.substr(start, colon - start));
    body.remove_prefix(colon + 1);
  }
  return fields;
}

TEST(Batch, SlotsHaveTheLayoutOfTheShader) {
  const std::vector<std::string> fields = fields_of(embedded_text("wgsl/slot.wgsl"), "Slot");
  ASSERT_EQ(4 * fields.size(), sizeof(Slot));
  const auto expect_at = [&](std::string_view name, size_t offset) {
    EXPECT_EQ(fields[offset / 4], name);
  };
  expect_at("start", offsetof(Slot, start));
  expect_at("count", offsetof(Slot, count));
  expect_at("position", offsetof(Slot, position));
  expect_at("length", offsetof(Slot, length));
  expect_at("index", offsetof(Slot, index));
  expect_at("chosen", offsetof(Slot, chosen));
  expect_at("inverse_temperature", offsetof(Slot, rule.inverse_temperature));
  expect_at("top_k", offsetof(Slot, rule.top_k));
  expect_at("top_p", offsetof(Slot, rule.top_p));
  expect_at("min_p", offsetof(Slot, rule.min_p));
  expect_at("repetition_penalty", offsetof(Slot, rule.repetition_penalty));
  expect_at("random_low", offsetof(Slot, rule.random_low));
  expect_at("random_high", offsetof(Slot, rule.random_high));
  expect_at("masked", offsetof(Slot, rule.masked));
  for (const char* file : {"this_batch", "row_tables", "next_batch"}) {
    const auto header = fields_of(embedded_text(fmt::format("wgsl/{}.wgsl", file)), "Batch");
    ASSERT_GE(header.size(), 5u) << file;
    EXPECT_EQ(header[offsetof(BatchHeader, rows) / 4], "rows") << file;
    EXPECT_EQ(header[offsetof(BatchHeader, slots) / 4], "slots") << file;
    EXPECT_EQ(header[offsetof(BatchHeader, outputs) / 4], "outputs") << file;
    EXPECT_EQ(header[sizeof(BatchHeader) / 4], "slot") << file;
  }
}

TEST(Batch, RowsFollowTheirSlots) {
  const BatchLayout layout = {.slots = 3, .rows = 8};
  const Slot slots[] = {{.count = 2, .position = 7, .index = 2}, {.count = 3, .index = 0}};
  const uint32_t ids[] = {10, 11, 12, 13, 14};
  std::vector<std::byte> bytes;
  write_batch(layout, slots, ids, {}, bytes);
  EXPECT_LE(bytes.size(), layout.bytes());
  BatchView view(layout, bytes.data());
  EXPECT_EQ(view.rows(), 5u);
  EXPECT_EQ(view.slots(), 2u);
  EXPECT_EQ(view.outputs(), 2u);
  EXPECT_EQ(view.output_row(0), 1u);
  EXPECT_EQ(view.output_row(1), 4u);
  EXPECT_EQ(view.slot_of(1).index, 2u);
  EXPECT_EQ(view.slot_of(2).index, 0u);
  EXPECT_EQ(view.position_of(1), 8u);
  EXPECT_EQ(view.position_of(4), 2u);
  EXPECT_EQ(view.ids()[3], 13u);
  const uint32_t outputs[] = {3};
  write_batch(layout, slots, ids, outputs, bytes);
  view = BatchView(layout, bytes.data());
  EXPECT_EQ(view.outputs(), 1u);
  EXPECT_EQ(view.output_row(0), 3u);
}

TEST(Batch, ABoundRangeBeginsWhereEveryDeviceLetsIt) {
  for (const uint32_t slots : {1u, 2u, 7u, 64u}) {
    for (const uint32_t rows : {1u, 8u, 511u, 4096u}) {
      const BatchLayout layout = {slots, rows};
      EXPECT_EQ(layout.ids_offset() % 256, 0u);
      EXPECT_GE(layout.ids_offset(), layout.table_bytes());
      EXPECT_LE(layout.table_bytes(), 65536u) << "a uniform binding has no more";
    }
  }
}

TEST(Extent, CountsWorkgroupsByRowsAndSlots) {
  EXPECT_EQ((Extent{7, 0}.at({100, 3})), 7u);
  EXPECT_EQ((Extent{3, 64}.at({1, 3})), 3u);
  EXPECT_EQ((Extent{3, 64}.at({65, 3})), 6u);
  EXPECT_EQ((Extent{3, 64, true}.at({65, 1})), 6u);
  EXPECT_EQ((Extent{3, 64, true}.at({65, 3})), 12u);
  EXPECT_EQ((Extent{2, 0, true}.at({65, 3})), 6u);
}

}  // namespace
}  // namespace tokamak
