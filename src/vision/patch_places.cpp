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

void write_angles(const ImageAngles& angles, const std::array<uint32_t, 3>& time_row_column,
                  std::span<float> out) {
  const std::vector<float>& frequencies = angles.rope.inverse_frequencies;
  const size_t half = frequencies.size();
  for (size_t i = 0; i < half; ++i) {
    const bool by_row = i % 3 == 1 && i < 3 * size_t{angles.rows};
    const bool by_column = i % 3 == 2 && i < 3 * size_t{angles.columns};
    const uint32_t position = time_row_column[by_row ? 1 : by_column ? 2 : 0];
    const float angle = float(position) * frequencies[i];
    // The arithmetic of tables of positions, so that text beside an image turns to the same bits.
    out[i] = float(std::cos(double(angle))) * angles.rope.factor;
    out[half + i] = float(std::sin(double(angle))) * angles.rope.factor;
  }
}

}  // namespace tokamak
