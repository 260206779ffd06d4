// For those who run one sequence at a time on a program and wait for it: towers, models that hear.
#pragma once
#include <functional>
#include <vector>

#include "backend/backend.h"

namespace tokamak {

/// Gives the one sequence all pages of every table, in order.
Result<void> write_all_pages(Program& program);

/// The work of the host while the device computes; may be empty.
using Meanwhile = std::function<void()>;

/// Runs a step and waits for its result. REQUIRES: request.done is empty.
Result<std::vector<float>> run_and_read(Program& program, StepRequest request,
                                        const Meanwhile& meanwhile = {});

/// Runs the tokens from position `before` on, as many at a time as a step takes, and waits for the
/// result of the last one. `inputs` gives what else a step reads of its rows, `count` of them from
/// `first` on of these tokens; it may be used until the next call. REQUIRES: there are tokens.
Result<std::vector<float>> run_tokens(
    Program& program, std::span<const uint32_t> ids, uint32_t before,
    const std::function<std::span<const InputWrite>(uint32_t first, uint32_t count)>& inputs,
    const Meanwhile& meanwhile = {});

/// How many positions its page table has.
uint32_t positions_of_pages(const Plan& plan);

}  // namespace tokamak
