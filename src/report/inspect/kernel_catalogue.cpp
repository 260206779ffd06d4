#include "report/inspect/kernel_catalogue.h"

#include <map>

#include "kernels/select.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

/// The launches of each variant.
std::map<const KernelVariant*, Json::Array> launches_of(const Plan& plan) {
  std::map<const KernelVariant*, Json::Array> places;
  for (size_t phase = 0; phase < plan.phases.size(); ++phase) {
    const std::vector<Step>& steps = plan.phases[phase].steps;
    for (size_t step = 0; step < steps.size(); ++step) {
      Json place;
      place.set("phase", uint64_t{phase}).set("step", uint64_t{step});
      places[steps[step].kernel].push_back(std::move(place));
    }
  }
  return places;
}

}  // namespace

Json kernel_catalogue(const Plan* plan) {
  std::map<const KernelVariant*, Json::Array> places;
  if (plan != nullptr) places = launches_of(*plan);
  Json::Array list;
  for (const KernelVariant& variant : all_variants()) {
    if (variant.backend != BackendKind::kWebGpu) continue;
    Json one;
    one.set("name", variant.name).set("needs", features_text(variant.needs));
    one.set("launches", std::move(places[&variant]));
    list.push_back(std::move(one));
  }
  return list;
}

Result<Json> kernel_of_step(const Plan& plan, size_t phase_index, size_t step_index) {
  if (phase_index >= plan.phases.size() || step_index >= plan.phases[phase_index].steps.size()) {
    return fail(ErrorCode::kUsage, "The plan has no step {} of phase {}.", step_index, phase_index);
  }
  const Phase& phase = plan.phases[phase_index];
  const Step& step = phase.steps[step_index];
  Json::Array passed_over(step.passed_over.begin(), step.passed_over.end());
  Json out;
  out.set("kernel", step.kernel->name).set("phase", phase.name);
  if (step.kernel->launch != nullptr) {
    out.set("wgsl", shader_text(step.kernel->needs, step.launch, step.inputs.size(),
                                step.outputs.size(), batch_access(plan, phase, step)));
  }
  return std::move(out.set("passedOver", std::move(passed_over)));
}

}  // namespace tokamak
