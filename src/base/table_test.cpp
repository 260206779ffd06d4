#include "base/table.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoSpacesAtLineEnds) {
  Table table;
  table.column("name", "name").column("n", "n", Table::Align::kRight).column("note", "");
  table.row({"a", 7u, "x"});
  table.row({"longer", 1234u, ""});
  EXPECT_EQ(table.text(),
            "name       n  note\n"
            "a          7  x\n"
            "longer  1234\n");
}

TEST(Table, GivesProgramsTheValueAndPeopleTheText) {
  Table table;
  table.column("size", "bytes").column("only shown", "");
  table.row({bytes_cell(2048), "x"});
  EXPECT_EQ(table.json().dump(), R"([{"bytes": 2048}])");
  EXPECT_NE(table.text().find("2.00 KiB"), std::string::npos);
}

TEST(Facts, LeavesOutWhatHasNoTitleOrNoKey) {
  Facts facts;
  facts.add("shown", "text", "", nullptr).add("", "", "key", 3);
  EXPECT_EQ(facts.text(), "shown  text\n");
  EXPECT_EQ(facts.json().dump(), R"({"key": 3})");
}

TEST(Figures, AreWrittenForPeople) {
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(uint64_t{3} << 30), "3.00 GiB");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(amount_text(12), "12");
  EXPECT_EQ(amount_text(2.5e9), "2.50 G");
  EXPECT_EQ(joined({"a", "b"}, "; "), "a; b");
}

}  // namespace
}  // namespace tokamak
