// Cutting a plan by layers, for devices that run one part after the other.
//
// A layer is what has states of its own: between the last step that touches those of one and the
// first that touches those of the next, a plan may be cut, in every phase. Of these places the cut
// takes the one that puts the fewest weights on two devices, since phases may be cut differently,
// and of those the one where the fewest bytes go from one part to the next.
// docs/decisions/0124-layers-on-devices.md says how devices run the parts.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace tokamak {

/// The first step of a layer in each phase.
using LayerStart = std::vector<size_t>;

/// The layers of a plan, in their order; the first one begins with what is in front of it, the last
/// one ends with what is after it. A plan without states, or whose states all belong together, is
/// one layer.
std::vector<LayerStart> find_layers(const Plan& plan);

/// Layers in a row, and the bytes that they take of a device's memory.
struct LayerShare {
  size_t first = 0, count = 0;
  uint64_t bytes = 0;
  bool operator==(const LayerShare&) const = default;
};

/// "layers 1 to 16", "layer 17": as people count them.
std::string layers_text(const LayerShare& share);

/// Layers for devices with that much room, so that the fullest of them is as empty as can be; one
/// layer at least for each. Where a room is not known (0), all count as alike. REQUIRES: as many
/// layers as rooms.
std::vector<LayerShare> share_layers(const Plan& plan, std::span<const LayerStart> layers,
                                     std::span<const uint64_t> rooms);

/// A value that goes from one stage to a later one.
struct Carried {
  BufferId buffer = {};  // of the whole plan
  Operand operand;       // of the stage
  bool operator==(const Carried&) const = default;
};

/// The part of a plan that a device runs: a plan with the same phases, of fewer steps and buffers.
/// The result of a phase of any stage but the last is the largest value that it gives.
struct Stage {
  Plan plan;
  std::vector<std::optional<BufferId>> own;  // its number of each buffer of the whole plan
  std::vector<std::vector<Carried>> takes;   // [phase]: before its steps
  std::vector<std::vector<Carried>> gives;   // [phase]: after its steps, the largest first
};

/// The stages of these shares, which are all layers of the plan in their order.
std::vector<Stage> cut_layers(const Plan& plan, std::span<const LayerStart> layers,
                              std::span<const LayerShare> shares);

}  // namespace tokamak
