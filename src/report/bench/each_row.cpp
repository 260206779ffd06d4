#include "report/bench/each_row.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace tokamak {
namespace {

/// Fewer rows are not worth a thread.
constexpr size_t kRowsPerThread = 8;

}  // namespace

Result<void> for_each_row(size_t rows, const std::function<Result<void>(size_t row)>& work) {
  const size_t processors = std::max(std::thread::hardware_concurrency(), 1u);
  const size_t parts = std::clamp(rows / kRowsPerThread, size_t{1}, processors);
  std::vector<Result<void>> statuses(parts);
  const auto run = [&](size_t part) {
    const size_t end = rows * (part + 1) / parts;
    for (size_t row = rows * part / parts; row < end && statuses[part]; ++row) {
      statuses[part] = work(row);
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t part = 1; part < parts; ++part) others.emplace_back(run, part);
    run(0);
  }
  for (const Result<void>& status : statuses) TOK_TRY(status);
  return {};
}

}  // namespace tokamak
