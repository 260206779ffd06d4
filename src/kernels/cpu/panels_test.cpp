#include "kernels/cpu/panels.h"

#include <gtest/gtest.h>

#include "kernels/quant/random_matrix.h"

namespace tokamak {
namespace {

/// Every format, rows that fill no panel and columns that fill no block.
TEST(Panels, RowsAreThoseOfTheStreams) {
  constexpr uint32_t kRows = 19;
  std::mt19937 random(7);
  for (size_t i = 0; i < weight_formats().size(); ++i) {
    const DType dtype = packed_type(i);
    const uint32_t unit = weight_formats()[i].row_unit();
    const uint32_t columns = unit < 64 ? 3 * unit : unit;
    SCOPED_TRACE(dtype_name(dtype));
    const std::vector<std::byte> streams = random_matrix(dtype, kRows, columns, 1, random);
    const PanelLayout layout(dtype, kRows, columns);
    ASSERT_EQ(layout.panels(), 2u);
    std::vector<std::byte> panels(layout.bytes());
    pack_panels(layout, streams, 1, 2, panels.data() + layout.panel_bytes);
    pack_panels(layout, streams, 0, 1, panels.data());
    std::vector<float> expected(columns), found(columns);
    for (uint32_t row = 0; row < kRows; ++row) {
      unpack_row(dtype, streams, kRows, row, expected);
      unpack_panel_row(layout, panels.data(), row, found);
      ASSERT_EQ(found, expected) << "row " << row;
    }
  }
}

TEST(Panels, TakeAboutWhatTheRowsTake) {
  for (const DType dtype : {DType::kQ8_0, DType::kQ4_0, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K}) {
    const uint64_t bytes = matrix_bytes(dtype, 4096, 4096);
    EXPECT_LT(PanelLayout(dtype, 4096, 4096).bytes(), bytes + bytes / 30) << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace tokamak
