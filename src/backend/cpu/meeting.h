// The place where the ranks of a plan give each other what a collective op reads.
#pragma once
#include <memory>
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

class Meeting {
 public:
  virtual ~Meeting() = default;
  /// Gives the others `given`, an op's inputs, and waits for theirs: those of all ranks, in their
  /// order.
  virtual std::span<const std::span<const CpuTensor>> come(size_t rank,
                                                           std::span<const CpuTensor> given) = 0;
  /// Returns when all have read it.
  virtual void leave() = 0;
};

/// Null where there are no threads.
std::shared_ptr<Meeting> make_meeting(size_t ranks);

}  // namespace tokamak
