#include "backend/one_sequence.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "base/check.h"

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

Result<std::vector<float>> run_and_read(Program& program, StepRequest request,
                                        const Meanwhile& meanwhile) {
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
  if (meanwhile) meanwhile();
  TOK_TRY(program.wait());
  if (arrived->error) return Failure(*arrived->error);
  return std::move(arrived->rows);
}

Result<std::vector<float>> run_tokens(
    Program& program, std::span<const uint32_t> ids, uint32_t before,
    const std::function<std::span<const InputWrite>(uint32_t first, uint32_t count)>& inputs,
    const Meanwhile& meanwhile) {
  TOK_CHECK(!ids.empty());
  const Plan& plan = program.plan();
  const auto all = uint32_t(ids.size());
  for (uint32_t first = 0;;) {
    const uint32_t count = std::min(all - first, plan.chunk());
    StepRequest request{
        .phase = plan.phase_for(count),
        .slots = {{.count = count, .position = before + first, .length = before + all}},
        .tokens = ids.subspan(first, count),
        .inputs = inputs(first, count),
        .done = {}};
    if (first + count == all) return run_and_read(program, std::move(request), meanwhile);
    TOK_TRY(program.submit(request));
    first += count;
  }
}

uint32_t positions_of_pages(const Plan& plan) {
  return uint32_t(plan.at(plan.named("pages")).tensor.shape[0]) * kPageTokens;
}

}  // namespace tokamak
