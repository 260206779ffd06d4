// In a tab no prompt arrives while others generate: the verb `bench` has no option for it.
#include "report/bench/bench_arrival.h"

namespace tokamak {

Result<Arrival> time_arrival(Engine&, std::span<const uint32_t>, const BenchOptions&, const Clock&,
                             const BenchTest&) {
  return unsupported("A module for the browser does not measure prompts that arrive.");
}

}  // namespace tokamak
