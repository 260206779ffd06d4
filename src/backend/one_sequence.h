// For those who run one sequence at a time on a program and wait for it: towers, models that hear.
#pragma once
#include <vector>

#include "backend/backend.h"

namespace tokamak {

/// Gives the one sequence all pages of every table, in order.
Result<void> write_all_pages(Program& program);

/// Runs a step and waits for its result. REQUIRES: request.done is empty.
Result<std::vector<float>> run_and_read(Program& program, StepRequest request);

}  // namespace tokamak
