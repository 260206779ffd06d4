// Which operations of a graph each backend has a kernel for: what `inspect --support` shows of
// them.
#pragma once
#include <span>

#include "report/support/support.h"

namespace tokamak {

/// A column of the report.
struct SupportBackend {
  DeviceInfo device;  // one that grants no more than every device does
  std::optional<bool> SupportRow::* runs;
};

std::span<const SupportBackend> support_backends();

/// One row for the operations that run everywhere, and one for each of the others, with the reasons
/// of its kernels.
std::vector<SupportRow> operation_rows(const Graph& graph);

}  // namespace tokamak
