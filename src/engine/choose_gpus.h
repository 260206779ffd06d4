// The number of GPUs that a model needs.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "backend/cuda/device.h"
#include "plan/plan.h"

namespace tokamak {

/// Whether each of that many ranks has room for its part of a model.
using RanksFit = std::function<bool(uint32_t ranks)>;

/// The fewest CUDA devices, `first` among them, that have room for weights of that many bytes where
/// that one has not: with each other's name and memory, since ranks run one plan. `room`: bytes
/// that a model may take of each. `fit` is asked of counts for which the weights alone have room,
/// since a rank has more than its share of them: what is not cut is whole on each. Empty: one has
/// room, or all together have not.
std::vector<uint32_t> gpus_for(uint64_t weights, uint64_t room, uint32_t first,
                               std::span<const CudaDeviceEntry> devices, const RanksFit& fit);

/// Whether weights of that many bytes leave enough of `room` to caches and activations.
bool leave_room(double weights, double room);

/// Whether the parts of a plan leave enough of these rooms, with nothing in the host's memory.
/// `towers`: bytes beside it, which the device with the most room has.
bool layers_have_room(const Plan& plan, uint64_t towers, std::span<const uint64_t> rooms);

/// Whether devices with these rooms have room for a model of which each has some layers.
using LayersFit = std::function<bool(std::span<const uint64_t> rooms)>;

/// The same of devices that need not be alike, since each has some layers: after `first` those with
/// the most memory, of which the model may take as large a part as of that one's. `fit` counts what
/// two parts have both, too.
std::vector<uint32_t> layer_gpus_for(uint64_t weights, uint64_t room, uint32_t first,
                                     std::span<const CudaDeviceEntry> devices,
                                     const LayersFit& fit);

}  // namespace tokamak
