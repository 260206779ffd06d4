#include "engine/choose_gpus.h"

#include <algorithm>

#include "graph/collective_ops.h"
#include "plan/layer_cut.h"

namespace tokamak {
namespace {

/// The part of the room that is left to caches and activations.
constexpr double kLeft = 0.1;

}  // namespace

bool leave_room(double weights, double room) {
  return weights <= (1 - kLeft) * room;
}

bool layers_have_room(const Plan& plan, uint64_t towers, std::span<const uint64_t> rooms) {
  const std::vector<LayerStart> layers = find_layers(plan);
  if (layers.size() < rooms.size() || footprint(plan).on_host != 0) return false;
  const std::vector<Stage> stages = cut_layers(plan, layers, share_layers(plan, layers, rooms));
  const auto most = size_t(std::ranges::max_element(rooms) - rooms.begin());
  for (size_t i = 0; i < stages.size(); ++i) {
    const uint64_t own = footprint(stages[i].plan).constants + (i == most ? towers : 0);
    if (!leave_room(double(own), double(rooms[i]))) return false;
  }
  return true;
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
                                     std::span<const CudaDeviceEntry> devices,
                                     const LayersFit& fit) {
  if (weights <= room || first >= devices.size()) return {};
  std::vector<uint32_t> by_size;
  for (uint32_t i = 0; i < devices.size(); ++i) {
    if (i != first) by_size.push_back(i);
  }
  const auto bytes = [&](uint32_t i) { return devices[i].place.bytes; };
  std::ranges::stable_sort(by_size, std::greater(), bytes);
  std::vector<uint32_t> chosen = {first};
  std::vector<uint64_t> rooms = {room};
  double all = double(room);
  for (const uint32_t i : by_size) {
    if (chosen.size() == kMaxRanks) break;
    chosen.push_back(i);
    rooms.push_back(uint64_t(double(room) * double(bytes(i)) / double(bytes(first))));
    all += double(rooms.back());
    if (leave_room(double(weights), all) && fit(rooms)) return chosen;
  }
  return {};
}

}  // namespace tokamak
