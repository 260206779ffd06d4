#include "base/table.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"

namespace tokamak {

Table& Table::column(std::string title, std::string key, Align align) {
  columns_.push_back({std::move(title), std::move(key), align});
  return *this;
}

void Table::row(std::vector<Cell> cells) {
  TOK_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

namespace {

constexpr std::string_view kGap = "  ";

size_t longest_word(std::string_view text) {
  size_t longest = 0;
  for (const std::string& word : wrapped(text, 0)) longest = std::max(longest, columns_of(word));
  return longest;
}

/// How much of `word` stands before a break after a '.', in at most `width` columns; 0: nothing.
size_t first_part(std::string_view word, size_t width) {
  size_t dot = word.rfind('.');
  while (dot != word.npos && columns_of(word.substr(0, dot + 1)) > width) {
    dot = dot == 0 ? word.npos : word.rfind('.', dot - 1);
  }
  return dot == word.npos ? 0 : dot + 1;
}

/// The text of a cell in a column of that width, line by line.
std::vector<std::string> lines_of(const std::string& text, size_t width) {
  if (columns_of(text) <= width) return {text};
  std::vector<std::string> lines;
  for (const std::string& line : wrapped(text, width)) {
    std::string_view rest = line;
    while (columns_of(rest) > width) {
      const size_t part = first_part(rest, width);
      if (part == 0) break;
      lines.emplace_back(rest.substr(0, part));
      rest.remove_prefix(part);
    }
    lines.push_back(shortened(rest, width));
  }
  return lines;
}

}  // namespace

std::vector<size_t> Table::widths(size_t most) const {
  constexpr size_t kNarrowest = 8;
  std::vector<size_t> widths, words;
  size_t total = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = columns_of(columns_[c].title), word = width;
    for (const std::vector<Cell>& row : rows_) {
      width = std::max(width, columns_of(row[c].text));
      word = std::max(word, longest_word(row[c].text));
    }
    widths.push_back(width);
    words.push_back(word);
    total += width;
  }
  // First as far as words stay whole, then further.
  for (const bool keeps_words : {true, false}) {
    while (total > most) {
      size_t widest = columns_.size();
      for (size_t c = 0; c < columns_.size(); ++c) {
        const size_t least = keeps_words ? words[c] : std::min(words[c], kNarrowest);
        if (columns_[c].align == Align::kRight || widths[c] <= least) continue;
        if (widest == columns_.size() || widths[c] > widths[widest]) widest = c;
      }
      if (widest == columns_.size()) break;
      --widths[widest];
      --total;
    }
  }
  return widths;
}

std::string Table::aligned(size_t column, const std::string& text, size_t width) const {
  const std::string blanks(width - columns_of(text), ' ');
  return columns_[column].align == Align::kLeft ? text + blanks : blanks + text;
}

std::string Table::text() const {
  return text(std::numeric_limits<size_t>::max());
}

std::string Table::text(size_t most) const {
  const size_t gaps = kGap.size() * (columns_.size() - 1);
  const std::vector<size_t> widths = this->widths(most - std::min(most, gaps));
  std::string out;
  const auto add = [&](auto&& cell_text) {
    std::vector<std::vector<std::string>> cells;
    size_t height = 1;
    for (size_t c = 0; c < columns_.size(); ++c) {
      cells.push_back(lines_of(cell_text(c), widths[c]));
      height = std::max(height, cells[c].size());
    }
    for (size_t i = 0; i < height; ++i) {
      std::string line;
      for (size_t c = 0; c < columns_.size(); ++c) {
        if (c > 0) line += kGap;
        line += aligned(c, i < cells[c].size() ? cells[c][i] : "", widths[c]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
  };
  add([&](size_t c) -> const std::string& { return columns_[c].title; });
  for (const std::vector<Cell>& row : rows_) {
    add([&](size_t c) -> const std::string& { return row[c].text; });
  }
  return out;
}

std::string Table::markdown(size_t most) const {
  constexpr size_t kAround = 3;  // "| " before a cell and a blank after it
  const size_t bars = kAround * columns_.size() + 1;
  const std::vector<size_t> widths = this->widths(most - std::min(most, bars));
  std::string out;
  const auto add = [&](auto&& cell_text) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      std::string text;
      for (const char one : shortened(cell_text(c), widths[c])) {
        text += one == '|' ? "/" : std::string(1, one);  // a bar would end the cell
      }
      out += "| " + aligned(c, text, widths[c]) + " ";
    }
    out += "|\n";
  };
  add([&](size_t c) -> const std::string& { return columns_[c].title; });
  for (size_t c = 0; c < columns_.size(); ++c) {
    const bool right = columns_[c].align == Align::kRight;
    out += "| " + std::string(widths[c] - (right ? 1 : 0), '-') + (right ? ": " : " ");
  }
  out += "|\n";
  for (const std::vector<Cell>& row : rows_) {
    add([&](size_t c) -> const std::string& { return row[c].text; });
  }
  return out;
}

Json Table::json() const {
  Json::Array list;
  for (const std::vector<Cell>& row : rows_) {
    Json object{Json::Object{}};
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].key.empty()) object.set(columns_[c].key, row[c].value);
    }
    list.push_back(std::move(object));
  }
  return list;
}

Facts& Facts::add(std::string title, std::string text, std::string key, Json value) {
  facts_.push_back({std::move(title), std::move(text), std::move(key), std::move(value)});
  return *this;
}

std::string Facts::text() const {
  size_t width = 0;
  for (const Fact& fact : facts_) width = std::max(width, fact.title.size());
  std::string out;
  for (const Fact& fact : facts_) {
    if (fact.title.empty()) continue;
    const size_t indent = width + kGap.size();
    const std::string lines =
        joined(wrapped(fact.text, kScreenColumns - indent), "\n" + std::string(indent, ' '));
    out += fmt::format("{:<{}}{}\n", fact.title, indent, lines);
  }
  return out;
}

Json Facts::json() const {
  Json out{Json::Object{}};
  for (const Fact& fact : facts_) {
    if (!fact.key.empty()) out.set(fact.key, fact.value);
  }
  return out;
}

std::string count_text(uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string amount_text(double amount) {
  constexpr std::array<const char*, 5> kUnits = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  while (amount >= 1000 && unit + 1 < kUnits.size()) {
    amount /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}", amount) : fmt::format("{:.2f}{}", amount, kUnits[unit]);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace tokamak
