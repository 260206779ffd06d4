// Tables for people and for programs from the same rows, and how figures are written.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes_text.h"
#include "base/json.h"
#include "base/wrap.h"

namespace tokamak {

/// The text for a person, and the value for `--json`.
struct Cell {
  Cell(std::string shown) : text(shown), value(std::move(shown)) {}
  Cell(std::string_view shown) : Cell(std::string(shown)) {}
  Cell(const char* shown) : Cell(std::string(shown)) {}
  Cell(uint64_t number) : text(std::to_string(number)), value(number) {}
  Cell(uint32_t number) : Cell(uint64_t{number}) {}
  Cell(std::string shown, Json json) : text(std::move(shown)), value(std::move(json)) {}

  std::string text;
  Json value;
};

class Table {
 public:
  enum class Align : uint8_t { kLeft, kRight };

  /// `key` names the column in JSON; "" leaves it out there.
  Table& column(std::string title, std::string key, Align align = Align::kLeft);
  /// REQUIRES: as many cells as columns.
  void row(std::vector<Cell> cells);
  size_t rows() const { return rows_.size(); }

  /// Aligned columns under their titles, no spaces at line ends.
  std::string text() const;
  /// The same in at most `most` columns: of the widest left-aligned ones, cells break at spaces and
  /// then in names after a '.'; what is still too wide loses its middle. Figures stay as they are.
  std::string text(size_t most) const;
  /// Prints Markdown, `most` columns wide: a wider text loses its middle.
  std::string markdown(size_t most) const;
  /// A list of objects.
  Json json() const;

 private:
  struct Column {
    std::string title, key;
    Align align;
  };
  /// How wide columns are that take `most` without what stands between them.
  std::vector<size_t> widths(size_t most) const;
  /// `text` at its side of the column.
  std::string aligned(size_t column, const std::string& text, size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// A titled list of single facts: "memory   weights 17.2 MiB, ..." and {"memory": {...}}.
class Facts {
 public:
  /// `title` "" leaves the fact out of the text, `key` "" out of the JSON.
  Facts& add(std::string title, std::string text, std::string key, Json value);
  Facts& add(std::string title, std::string key, const Cell& cell) {
    return add(std::move(title), cell.text, std::move(key), cell.value);
  }
  /// Long texts go on below their beginning, in kScreenColumns.
  std::string text() const;
  Json json() const;

 private:
  struct Fact {
    std::string title, text, key;
    Json value;
  };
  std::vector<Fact> facts_;
};

std::string count_text(uint64_t count);  // "9,012,224"
std::string amount_text(double amount);  // "1.23 G": thousands in letters
inline Cell bytes_cell(uint64_t bytes) {
  return {bytes_text(bytes), bytes};
}

/// "one, two, three"
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace tokamak
