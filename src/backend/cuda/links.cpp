#include "backend/cuda/links.h"

#include <algorithm>
#include <chrono>

#include "backend/cuda/memory.h"

namespace tokamak {
namespace cuda {
namespace {

constexpr uint64_t kBytes = uint64_t{64} << 20;
constexpr int kTimes = 5;

/// A device and memory on it that is copied.
struct End {
  std::shared_ptr<CudaDevice> device;
  DeviceMemory memory;
};

Result<End> open_end(uint32_t number) {
  End end;
  TOK_TRY(end.device, CudaDevice::open({.device = number}));
  TOK_TRY(end.device->enter());
  TOK_TRY(end.memory, DeviceMemory::make(end.device, kBytes, "what is copied"));
  return end;
}

/// Seconds of one copy from `owner` to `reader`, the shortest of some.
Result<double> copy_seconds(const End& reader, const End& owner) {
  CudaDevice& device = *reader.device;
  double shortest = 1e9;
  for (int time = 0; time < kTimes; ++time) {
    const auto begin = std::chrono::steady_clock::now();
    TOK_TRY(device.check(device.api().copy_async(reader.memory.address(), owner.memory.address(),
                                                 kBytes, device.stream()),
                         "A copy between devices failed"));
    TOK_TRY(
        device.check(device.api().stream_synchronize(device.stream()), "The device has failed"));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    shortest = std::min(shortest, taken.count());
  }
  return shortest;
}

}  // namespace
}  // namespace cuda

double slowest_link(std::span<const CudaLink> links, std::span<const uint32_t> devices) {
  const auto is_used = [&](uint32_t device) { return std::ranges::count(devices, device) > 0; };
  double slowest = 0;
  for (const CudaLink& link : links) {
    if (!is_used(link.reader) || !is_used(link.owner) || !link.problem.empty()) continue;
    slowest = slowest == 0 ? link.bytes_per_second : std::min(slowest, link.bytes_per_second);
  }
  return slowest;
}

Result<std::vector<CudaLink>> measure_cuda_links() {
  TOK_TRY(const std::vector<CudaDeviceEntry> devices, list_cuda_devices());
  std::vector<cuda::End> ends;
  for (uint32_t number = 0; number < devices.size(); ++number) {
    TOK_TRY(ends.emplace_back(), cuda::open_end(number));
  }
  std::vector<CudaLink> links;
  for (uint32_t reader = 0; reader < ends.size(); ++reader) {
    for (uint32_t owner = 0; owner < ends.size(); ++owner) {
      if (reader == owner) continue;
      CudaLink& link = links.emplace_back(CudaLink{.reader = reader, .owner = owner});
      TOK_TRY(ends[reader].device->enter());
      if (const auto reached = ends[reader].device->reach(*ends[owner].device); !reached) {
        link.problem = reached.error().message;
        continue;
      }
      TOK_TRY(const double seconds, cuda::copy_seconds(ends[reader], ends[owner]));
      link.bytes_per_second = double(cuda::kBytes) / seconds;
    }
  }
  return links;
}

}  // namespace tokamak
