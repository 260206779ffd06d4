// What earlier runs have kept about a device, and the self-test of what none of them has tested.
#include "tune/device_measurements.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/environment.h"
#include "base/file_cache.h"
#include "tune/measurement_cache.h"
#include "tune/tune.h"

namespace tokamak {
namespace {

Verdicts read_verdicts(const Json& cache) {
  Verdicts verdicts;
  if (!cache.is_object()) return verdicts;
  for (const auto& [program, verdict] : cache.as_object()) {
    if (verdict.is_string()) verdicts[program] = verdict.as_string();
  }
  return verdicts;
}

Json to_json(const Verdicts& verdicts) {
  Json out{Json::Object{}};
  for (const auto& [program, verdict] : verdicts) out.set(program, verdict);
  return out;
}

}  // namespace

MeasurementCache self_test_cache(const DeviceInfo& device) {
  return {cache_folder(kSelfTestCache.folder), kSelfTestCache, device};
}

MeasurementCache tuning_cache(const DeviceInfo& device) {
  return {cache_folder(kTuningCache.folder), kTuningCache, device};
}

std::string cache_problem() {
  const std::string folder = cache_folder(kPipelineCache.folder);
  if (folder.empty()) return "none of TOKAMAK_CACHE_DIR, XDG_CACHE_HOME and HOME is set";
  FileCache cache(folder, kPipelineCache);
  if (!cache.make_room(0)) return cache.problem();
  if (access(folder.c_str(), W_OK) == 0) return "";
  return fmt::format("{} cannot be written ({})", folder, std::strerror(errno));
}

void recall_tuned(const DeviceInfo& device, VariantAdvice& advice) {
  advice.tuned = read_tuned(tuning_cache(device).read());
}

void recall_verdicts(const DeviceInfo& device, VariantAdvice& advice) {
  for (const auto& [program, verdict] : read_verdicts(self_test_cache(device).read())) {
    // A program begins with the name of its variant.
    if (!verdict.empty()) advice.wrong.emplace(program.substr(0, program.find(' ')), verdict);
  }
}

Result<WrongVariants> find_wrong_kernels(Backend& backend, const Plan& plan,
                                         const MeasurementCache& cache) {
  if (backend.device().backend == BackendKind::kCpu) return WrongVariants();
  const Verdicts known = read_verdicts(cache.read());
  TOK_TRY(const Verdicts verdicts, test_plan(backend, plan, known));
  if (verdicts != known) cache.write(to_json(verdicts));
  return wrong_variants(plan, verdicts);
}

}  // namespace tokamak
