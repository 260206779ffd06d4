// The part that uploads of backends with threads share: how constants are divided among those.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "backend/backend.h"
#include "base/bits.h"

namespace tokamak {

/// Constants above this are read by several threads.
inline constexpr uint64_t kUploadShareBytes = uint64_t{16} << 20;
inline constexpr size_t kMaxUploadThreads = 8;

/// A share of a constant: what a thread takes at once.
template <typename Job>
struct UploadTask {
  const Job* job;
  Share share;
};

/// The shares of the largest constants first: one that is begun last would leave the other threads
/// idle. The tasks point to `jobs`.
template <typename Job>
std::vector<UploadTask<Job>> divide_upload(std::vector<Job>& jobs) {
  std::ranges::stable_sort(jobs, std::greater{}, &Job::bytes);
  std::vector<UploadTask<Job>> tasks;
  for (const Job& job : jobs) {
    const auto count = uint32_t(std::max<uint64_t>(1, ceil_div(job.bytes, kUploadShareBytes)));
    for (uint32_t i = 0; i < count; ++i) tasks.push_back({&job, {.index = i, .count = count}});
  }
  return tasks;
}

}  // namespace tokamak
