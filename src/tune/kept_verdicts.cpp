#include "tune/kept_verdicts.h"

#include "kernels/sources.h"

namespace tokamak {

Json to_json(const Verdicts& verdicts) {
  Json out{Json::Object{}};
  for (const auto& [program, verdict] : verdicts) out.set(program, verdict);
  return out;
}

Verdicts read_verdicts(const Json& kept) {
  Verdicts verdicts;
  if (!kept.is_object()) return verdicts;
  for (const auto& [program, verdict] : kept.as_object()) {
    if (verdict.is_string()) verdicts[program] = verdict.as_string();
  }
  return verdicts;
}

std::string verdicts_name(const DeviceInfo& device) {
  return fmt::format("verdicts {} {} {} {}", device.name, device.driver,
                     features_text(device.features), kernel_sources_hash());
}

Result<WrongVariants> find_wrong_kernels(Backend& backend, const Plan& plan,
                                         const KeptVerdicts& kept) {
  if (backend.device().backend == BackendKind::kCpu) return WrongVariants();
  const Verdicts known = read_verdicts(kept.read());
  TOK_TRY(const Verdicts verdicts, test_plan(backend, plan, known));
  if (verdicts != known) kept.write(to_json(verdicts));
  return wrong_variants(plan, verdicts);
}

}  // namespace tokamak
