// The places of a grid's patches, as numbers for a tower: rows that are added to their embeddings
// and angles by which their heads turn. Both in the order of image/patches.h.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/vision.h"

namespace tokamak {

/// `rows` x `columns` patches, of which `side` x `side` are neighbours.
struct PatchGrid {
  uint32_t rows = 0, columns = 0, side = 1;

  uint32_t patches() const { return rows * columns; }
  bool operator==(const PatchGrid&) const = default;
  struct Place {
    uint32_t row, column;
  };
  /// The place of patch `i` in the order of rows.
  Place place(uint32_t i) const;
};

/// A square `table` of rows of `width` floats, mixed bilinearly where a patch is between four of
/// them; the corners are those of the grid. [patches, width]
std::vector<float> mixed_positions(std::span<const float> table, uint32_t width,
                                   const PatchGrid& grid);

/// The row of the patch's column in the first half of `table`, plus that of its row in the second;
/// patches beyond the table take its last. [patches, width]
std::vector<float> added_positions(std::span<const float> table, uint32_t width,
                                   const PatchGrid& grid);

/// Half of a head's frequencies turn by the row, half by the column, or the other way round: d/2
/// cosines, then as many sines, with frequencies base^(-2i / (d/2)), or those of columns halfway
/// from one to the next. [patches, head_dim]
struct GridAngles {
  double base = 10000;
  bool columns_first = false, alternates = false;
};
std::vector<float> grid_angles(const GridAngles& angles, uint32_t head_dim, const PatchGrid& grid);

/// The rows that a tower gives of a grid, in an order in which those of a window are together:
/// windows of `window` x `window` of them and less at the right and below, each row by row.
std::vector<uint32_t> window_order(const PatchGrid& grid, uint32_t window);

/// For each patch in that order the first one of its window, and the one after the last.
std::vector<uint32_t> window_spans(const PatchGrid& grid, uint32_t window);

/// Equal parts of `values`, as many as there are numbers in `order`: part i is the one of number
/// order[i]; or part i becomes that one, `back`.
std::vector<float> reordered(std::span<const float> values, std::span<const uint32_t> order,
                             bool back = false);

/// The angles of a token at a place, a row of a rotary table: see ImageAngles.
void write_angles(const ImageAngles& angles, const std::array<uint32_t, 3>& time_row_column,
                  std::span<float> out);

}  // namespace tokamak
