#include "vision/patch_places.h"

#include <algorithm>
#include <cmath>

namespace tokamak {

PatchGrid::Place PatchGrid::place(uint32_t i) const {
  const uint32_t inside = side * side, block = i / inside, blocks = columns / side;
  const uint32_t in_block = i % inside;
  return {block / blocks * side + in_block / side, block % blocks * side + in_block % side};
}

namespace {

/// Two neighbours of a table of `size` rows and the share of the second.
struct Between {
  uint32_t first, second;
  float share;
};

/// The place of number `i` of `count` among `size`, the first and last of both at the same place.
Between between(uint32_t i, uint32_t count, uint32_t size) {
  const float at = count == 1 ? 0 : float(i) * float(size - 1) / float(count - 1);
  const auto first = std::min(uint32_t(at), size - 1);
  return {first, std::min(first + 1, size - 1), at - float(first)};
}

}  // namespace

std::vector<float> mixed_positions(std::span<const float> table, uint32_t width,
                                   const PatchGrid& grid) {
  const auto size = uint32_t(std::lround(std::sqrt(double(table.size() / width))));
  std::vector<float> out(size_t{grid.patches()} * width);
  for (uint32_t i = 0; i < grid.patches(); ++i) {
    const auto [row, column] = grid.place(i);
    const Between y = between(row, grid.rows, size), x = between(column, grid.columns, size);
    const auto add = [&](uint32_t table_row, uint32_t table_column, float share) {
      const auto from = table.subspan((size_t{table_row} * size + table_column) * width, width);
      for (uint32_t c = 0; c < width; ++c) out[size_t{i} * width + c] += share * from[c];
    };
    add(y.first, x.first, (1 - y.share) * (1 - x.share));
    add(y.first, x.second, (1 - y.share) * x.share);
    add(y.second, x.first, y.share * (1 - x.share));
    add(y.second, x.second, y.share * x.share);
  }
  return out;
}

std::vector<float> added_positions(std::span<const float> table, uint32_t width,
                                   const PatchGrid& grid) {
  const size_t size = table.size() / width / 2;
  std::vector<float> out(size_t{grid.patches()} * width);
  for (uint32_t i = 0; i < grid.patches(); ++i) {
    const auto [row, column] = grid.place(i);
    const size_t x = std::min<size_t>(column, size - 1), y = size + std::min<size_t>(row, size - 1);
    for (uint32_t c = 0; c < width; ++c) {
      out[size_t{i} * width + c] = table[x * width + c] + table[y * width + c];
    }
  }
  return out;
}

std::vector<float> grid_angles(const GridAngles& angles, uint32_t head_dim, const PatchGrid& grid) {
  const uint32_t half = head_dim / 2, each = half / 2;
  // Rows and columns that turn alike share their angles: [place, each] of them, twice otherwise.
  const uint32_t places = std::max(grid.rows, grid.columns);
  std::vector<float> cosines, sines;
  for (uint32_t axis = 0; axis < (angles.alternates ? 2 : 1); ++axis) {
    for (uint32_t place = 0; place < places; ++place) {
      for (uint32_t j = 0; j < each; ++j) {
        const float frequency = float(std::pow(angles.base, -(2.0 * j + axis) / half));
        const float angle = float(place) * frequency;
        cosines.push_back(std::cos(angle));
        sines.push_back(std::sin(angle));
      }
    }
  }
  const size_t of_columns = angles.alternates ? size_t{places} * each : 0;
  std::vector<float> out(size_t{grid.patches()} * head_dim);
  for (uint32_t i = 0; i < grid.patches(); ++i) {
    const auto [row, column] = grid.place(i);
    float* const to = &out[size_t{i} * head_dim];
    for (uint32_t j = 0; j < half; ++j) {
      const bool is_row = (j < each) != angles.columns_first;
      const size_t from =
          size_t{is_row ? row : column} * each + j % each + (is_row ? 0 : of_columns);
      to[j] = cosines[from];
      to[half + j] = sines[from];
    }
  }
  return out;
}

namespace {

/// Calls `visit` for each window with its first row and column and those after its last, in rows of
/// the tower.
template <typename Visit>
void each_window(const PatchGrid& grid, uint32_t window, const Visit& visit) {
  const uint32_t rows = grid.rows / grid.side, columns = grid.columns / grid.side;
  for (uint32_t row = 0; row < rows; row += window) {
    for (uint32_t column = 0; column < columns; column += window) {
      visit(row, std::min(row + window, rows), column, std::min(column + window, columns));
    }
  }
}

}  // namespace

std::vector<uint32_t> window_order(const PatchGrid& grid, uint32_t window) {
  std::vector<uint32_t> order;
  each_window(grid, window, [&](uint32_t top, uint32_t bottom, uint32_t left, uint32_t right) {
    for (uint32_t row = top; row < bottom; ++row) {
      for (uint32_t column = left; column < right; ++column) {
        order.push_back(row * (grid.columns / grid.side) + column);
      }
    }
  });
  return order;
}

std::vector<uint32_t> window_spans(const PatchGrid& grid, uint32_t window) {
  std::vector<uint32_t> spans;
  each_window(grid, window, [&](uint32_t top, uint32_t bottom, uint32_t left, uint32_t right) {
    const auto first = uint32_t(spans.size() / 2);
    const uint32_t end = first + (bottom - top) * (right - left) * grid.side * grid.side;
    for (uint32_t patch = first; patch < end; ++patch) {
      spans.push_back(first);
      spans.push_back(end);
    }
  });
  return spans;
}

std::vector<float> reordered(std::span<const float> values, std::span<const uint32_t> order,
                             bool back) {
  const size_t each = values.size() / order.size();
  std::vector<float> out(values.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t from = back ? i : order[i], to = back ? order[i] : i;
    std::ranges::copy(values.subspan(from * each, each), out.begin() + std::ptrdiff_t(to * each));
  }
  return out;
}

namespace {

/// The one of a token's time, row and column that frequency i turns by.
size_t axis_of(const ImageAngles& angles, size_t i) {
  const size_t rows = angles.rows, columns = angles.columns;
  if (angles.interleaved) {
    return i % 3 == 1 && i < 3 * rows ? 1 : i % 3 == 2 && i < 3 * columns ? 2 : 0;
  }
  const size_t after = angles.rope.inverse_frequencies.size() - i;
  return after <= columns ? 2 : after <= columns + rows ? 1 : 0;
}

}  // namespace

void write_angles(const ImageAngles& angles, const std::array<uint32_t, 3>& time_row_column,
                  std::span<float> out) {
  const std::vector<float>& frequencies = angles.rope.inverse_frequencies;
  const size_t half = frequencies.size();
  for (size_t i = 0; i < half; ++i) {
    const float angle = float(time_row_column[axis_of(angles, i)]) * frequencies[i];
    // The arithmetic of tables of positions, so that text beside an image turns to the same bits.
    out[i] = float(std::cos(double(angle))) * angles.rope.factor;
    out[half + i] = float(std::sin(double(angle))) * angles.rope.factor;
  }
}

}  // namespace tokamak
