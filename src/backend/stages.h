// Several devices as one that need not be alike: each has some layers of a model, a stage, and a
// step goes from one to the next. docs/decisions/0124-layers-on-devices.md says how.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "plan/layer_cut.h"

namespace tokamak {

/// A device, and the most bytes that models may take of it; 0: what is free.
struct StageDevice {
  std::unique_ptr<Backend> backend;
  uint64_t most_bytes = 0;
};

/// A backend over those of the stages, in their order; `device()` has what all of them have, and
/// `memory_use()` counts as free what models may still take. A plan of fewer layers runs on as many
/// of them, one that cannot be cut on the one with most room. Errors: the devices are of different
/// kinds. REQUIRES: 2 or more.
Result<std::unique_ptr<Backend>> make_stages(std::vector<StageDevice> stages);

/// The layers of a plan that each of `backend.stages()` has, by the room that it has for them; of
/// the first ones where there are fewer layers. None where there are no stages.
std::vector<LayerShare> layer_shares(const Backend& backend, const Plan& plan);

/// An error where the plan of a model has fewer layers than the backend has stages, if it has any.
Result<void> check_layers(const Backend& backend, const Plan& plan);

}  // namespace tokamak
