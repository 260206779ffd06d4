#include "backend/one_sequence.h"

#include <memory>
#include <numeric>
#include <optional>

namespace tokamak {

Result<void> write_all_pages(Program& program) {
  const Plan& plan = program.plan();
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].use != BufferUse::kTable) continue;
    std::vector<uint32_t> pages(size_t(plan.buffers[i].tensor.shape[0]));
    std::iota(pages.begin(), pages.end(), 0);
    TOK_TRY(program.write_table(BufferId(i), pages));
  }
  return {};
}

Result<std::vector<float>> run_and_read(Program& program, StepRequest request) {
  // The callback holds it, too: it may come when nobody waits any more.
  struct Arrived {
    std::vector<float> rows;
    std::optional<Error> error;
  };
  const auto arrived = std::make_shared<Arrived>();
  request.done = [arrived](Result<std::span<const float>> rows) {
    if (rows) {
      arrived->rows.assign(rows->begin(), rows->end());
    } else {
      arrived->error = std::move(rows).error();
    }
  };
  TOK_TRY(program.submit(request));
  TOK_TRY(program.wait());
  if (arrived->error) return Failure(*arrived->error);
  return std::move(arrived->rows);
}

}  // namespace tokamak
