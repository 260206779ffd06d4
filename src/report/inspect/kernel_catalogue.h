// Every kernel for GPUs, and what the steps of a plan run of them.
#pragma once
#include "base/json.h"
#include "plan/plan.h"

namespace tokamak {

/// A list: {name, needs, launches: [{phase, step}]} of each variant; `launches` are the places in
/// `plan`, none where that is null.
Json kernel_catalogue(const Plan* plan);

/// {kernel, phase, wgsl, passedOver}: what a step runs, as WGSL made for the device of the plan,
/// and why each better variant was not taken. kUsage where there is no such step.
Result<Json> kernel_of_step(const Plan& plan, size_t phase, size_t step);

}  // namespace tokamak
