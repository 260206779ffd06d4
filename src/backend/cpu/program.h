// A plan on a processor.
#pragma once
#include <memory>

#include "backend/backend.h"
#include "kernels/cpu/thread_pool.h"

namespace tokamak {

/// `pool` computes what kernels for vectors do; null in the reference. `alive` counts the bytes of
/// all programs of the backend.
Result<std::unique_ptr<Program>> make_cpu_program(Plan plan, const ConstantReader& constants,
                                                  const LoadProgress& progress,
                                                  std::shared_ptr<ThreadPool> pool,
                                                  std::shared_ptr<uint64_t> alive);

}  // namespace tokamak
