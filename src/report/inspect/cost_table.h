// Nodes of a graph or steps of a plan, one a row, with what each moves and computes.
#pragma once
#include "base/table.h"
#include "plan/plan.h"

namespace tokamak::inspection {

class CostTable {
 public:
  /// `numbered` is what the rows are: "node", "step".
  CostTable(std::string numbered, const std::vector<std::string>& titles);
  /// REQUIRES: as many cells as titles.
  void row(std::vector<Cell> cells, const Cost& cost);
  /// In kScreenColumns.
  std::string text() const { return table_.text(kScreenColumns); }

 private:
  Table table_;
};

}  // namespace tokamak::inspection
