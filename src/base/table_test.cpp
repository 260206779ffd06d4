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

TEST(Table, FitsByBreakingCellsAtSpacesFirst) {
  Table table;
  table.column("op", "").column("n", "", Table::Align::kRight).column("weights", "");
  table.row({"attention {scale=0.125, window=256}", 12345u, "a.weight b.weight"});
  table.row({"add", 7u, ""});
  EXPECT_EQ(table.text(34),
            "op                 n  weights\n"
            "attention      12345  a.weight\n"
            "{scale=0.125,         b.weight\n"
            "window=256}\n"
            "add                7\n");
  EXPECT_EQ(table.text(200), table.text());
}

TEST(Table, FitsByBreakingNamesAfterADot) {
  Table table;
  table.column("name", "name").column("±", "n", Table::Align::kRight);
  table.row({"model.layers.0.self_attn.q_proj.weight", "1.5 ± 0.1"});
  EXPECT_EQ(table.text(27),
            "name                      ±\n"
            "model.layers.0.   1.5 ± 0.1\n"
            "self_attn.\n"
            "q_proj.weight\n");
  EXPECT_EQ(table.json().dump(),
            R"([{"name": "model.layers.0.self_attn.q_proj.weight", "n": "1.5 ± 0.1"}])");
}

TEST(Table, FitsByLeavingOutTheMiddleOfWordsThatAreTooLong) {
  Table table;
  table.column("name", "").column("n", "", Table::Align::kRight);
  table.row({"layers.post_feedforward_layernorm", 7u});
  EXPECT_EQ(table.text(20),
            "name               n\n"
            "layers.            7\n"
            "post_fe...yernorm\n");
}

TEST(Table, IsMarkdownToo) {
  Table table;
  table.column("model", "").column("t/s", "", Table::Align::kRight);
  table.row({"a|b", "1.5 ± 0.1"});
  table.row({"a-model-with-a-long-name", "12.5 ± 0.1"});
  EXPECT_EQ(table.markdown(100),
            "| model                    |        t/s |\n"
            "| ------------------------ | ---------: |\n"
            "| a/b                      |  1.5 ± 0.1 |\n"
            "| a-model-with-a-long-name | 12.5 ± 0.1 |\n");
  EXPECT_EQ(table.markdown(28),
            "| model       |        t/s |\n"
            "| ----------- | ---------: |\n"
            "| a/b         |  1.5 ± 0.1 |\n"
            "| a-mo...name | 12.5 ± 0.1 |\n");
}

TEST(Facts, ContinueBelowTheirBeginning) {
  Facts facts;
  facts.add("fact", std::string(60, 'a') + " " + std::string(60, 'b'), "", nullptr);
  EXPECT_EQ(facts.text(),
            "fact  " + std::string(60, 'a') + "\n      " + std::string(60, 'b') + "\n");
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
