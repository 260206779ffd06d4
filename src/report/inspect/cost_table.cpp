#include "report/inspect/cost_table.h"

namespace tokamak::inspection {

CostTable::CostTable(std::string numbered, const std::vector<std::string>& titles) {
  table_.column(std::move(numbered), "", Table::Align::kRight);
  for (const std::string& title : titles) table_.column(title, "");
  table_.column("bytes", "", Table::Align::kRight).column("FLOP", "", Table::Align::kRight);
}

void CostTable::row(std::vector<Cell> cells, const Cost& cost) {
  cells.insert(cells.begin(), uint64_t{table_.rows()});
  cells.push_back(bytes_cell(cost.bytes));
  cells.emplace_back(amount_text(double(cost.flops)));
  table_.row(std::move(cells));
}

}  // namespace tokamak::inspection
