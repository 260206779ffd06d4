#include "engine/choose_gpus.h"

#include <algorithm>

#include "graph/collective_ops.h"

namespace tokamak {
namespace {

/// The part of the room that is left to caches and activations.
constexpr double kLeft = 0.1;

}  // namespace

bool leave_room(double weights, double room) {
  return weights <= (1 - kLeft) * room;
}

std::vector<uint32_t> gpus_for(uint64_t weights, uint64_t room, uint32_t first,
                               std::span<const CudaDeviceEntry> devices, const RanksFit& fit) {
  if (weights <= room || first >= devices.size()) return {};
  std::vector<uint32_t> chosen = {first};
  for (uint32_t i = 0; i < devices.size() && chosen.size() < kMaxRanks; ++i) {
    const bool is_alike = devices[i].info.name == devices[first].info.name &&
                          devices[i].place.bytes == devices[first].place.bytes;
    if (i == first || !is_alike) continue;
    chosen.push_back(i);
    if (!leave_room(double(weights), double(room) * double(chosen.size()))) continue;
    if (fit(uint32_t(chosen.size()))) return chosen;
  }
  return {};
}

std::vector<uint32_t> layer_gpus_for(uint64_t weights, uint64_t room, uint32_t first,
                                     std::span<const CudaDeviceEntry> devices) {
  if (weights <= room || first >= devices.size()) return {};
  std::vector<uint32_t> by_size;
  for (uint32_t i = 0; i < devices.size(); ++i) {
    if (i != first) by_size.push_back(i);
  }
  const auto bytes = [&](uint32_t i) { return devices[i].place.bytes; };
  std::ranges::stable_sort(by_size, std::greater(), bytes);
  std::vector<uint32_t> chosen = {first};
  double all = double(room);
  for (const uint32_t i : by_size) {
    if (chosen.size() == kMaxRanks) break;
    chosen.push_back(i);
    all += double(room) * double(bytes(i)) / double(bytes(first));
    if (leave_room(double(weights), all)) return chosen;
  }
  return {};
}

}  // namespace tokamak
