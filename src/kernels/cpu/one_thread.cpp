// The pool where there are no threads: its caller does all.
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/variants.h"

namespace tokamak {

class ThreadPool::Workers {};

ThreadPool::ThreadPool(uint32_t) {}

ThreadPool::~ThreadPool() = default;

uint32_t ThreadPool::threads() const {
  return 1;
}

void ThreadPool::run_ranges(size_t pieces, Call call) {
  if (pieces != 0) call.function(call.context, 0, pieces);
}

uint32_t usable_cores() {
  return 1;
}

bool vectors_are_limited() {
  return false;
}

/// One thread copies rows as the references do.
std::span<const KernelVariant> vector_copy_variants() {
  return {};
}

}  // namespace tokamak
