#include "base/table.h"

#include <algorithm>
#include <array>

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

std::string Table::text() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = columns_[c].title.size();
    for (const std::vector<Cell>& row : rows_) width = std::max(width, row[c].text.size());
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](auto&& cell_text) {
    std::string text;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) text += "  ";
      text += columns_[c].align == Align::kLeft ? fmt::format("{:<{}}", cell_text(c), widths[c])
                                                : fmt::format("{:>{}}", cell_text(c), widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](size_t c) -> const std::string& { return columns_[c].title; });
  for (const std::vector<Cell>& row : rows_) {
    line([&](size_t c) -> const std::string& { return row[c].text; });
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
    if (!fact.title.empty()) out += fmt::format("{:<{}}  {}\n", fact.title, width, fact.text);
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
