#include "report/bench/guesses.h"

namespace tokamak {

std::string guesses_text(Engine& engine) {
  const auto scheduler = engine.scheduler();
  if (!scheduler) return "";
  const SchedulerStats stats = (*scheduler)->stats();
  if (stats.drafted_tokens == 0) return "";
  return fmt::format("; {} of {} guesses came true", stats.accepted_tokens, stats.drafted_tokens);
}

}  // namespace tokamak
