#include "vision/words_of_rows.h"

#include <utility>

namespace tokamak {
namespace {

std::string with_number(std::string text, std::string_view name, uint32_t number) {
  const size_t at = text.find(name);
  return at == text.npos ? text : text.replace(at, name.size(), std::to_string(number));
}

std::vector<WordsOfRows> of_lines(const LineMarks& marks, const PatchGrid& rows) {
  std::vector<WordsOfRows> out;
  for (uint32_t row = 0; row < rows.rows; ++row) {
    out.push_back({row == 0 ? "" : marks.line, rows.columns});
  }
  out.push_back({marks.end, 0});
  return out;
}

std::vector<WordsOfRows> of_squares(const Tiles& tiles, uint32_t each, const PatchGrid& squares) {
  std::vector<WordsOfRows> out;
  std::string before;  // what ends the line above
  const uint32_t count = squares.patches() == 1 ? 0 : squares.patches();
  for (uint32_t i = 0; i < count; ++i) {
    const auto [row, column] = squares.place(i);
    before += with_number(with_number(tiles.tile, "{row}", row + 1), "{column}", column + 1);
    out.push_back({std::exchange(before, ""), each});
    if (column + 1 == squares.columns) before = tiles.line;
  }
  if (count > 0) before += tiles.line;
  out.push_back({before + tiles.whole, each});
  out.push_back({tiles.end, 0});
  return out;
}

}  // namespace

std::vector<WordsOfRows> words_of_rows(const VisionTower& tower, const PatchGrid& rows,
                                       const PatchGrid& squares) {
  if (const auto* lines = std::get_if<LineMarks>(&tower.parts)) return of_lines(*lines, rows);
  if (const auto* tiles = std::get_if<Tiles>(&tower.parts)) {
    return of_squares(*tiles, tower.max_rows(), squares);
  }
  return {};
}

}  // namespace tokamak
