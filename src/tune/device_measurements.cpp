// The measurements that earlier runs have kept about a device, and the self-test of the rest.
#include "tune/device_measurements.h"

#include "base/file_cache.h"
#include "base/system/file.h"
#include "base/system/folders.h"
#include "tune/kept_verdicts.h"
#include "tune/measurement_cache.h"
#include "tune/tune.h"

namespace tokamak {
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
  const auto writable = check_writable(folder);
  if (writable) return "";
  return fmt::format("{} cannot be written ({})", folder, writable.error().message);
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

KeptVerdicts kept_verdicts(MeasurementCache cache) {
  const auto shared = std::make_shared<MeasurementCache>(std::move(cache));
  return {.read = [shared] { return shared->read(); },
          .write = [shared](const Json& verdicts) { shared->write(verdicts); }};
}

Result<WrongVariants> find_wrong_kernels(Backend& backend, const Plan& plan,
                                         const MeasurementCache& cache) {
  return find_wrong_kernels(backend, plan, kept_verdicts(cache));
}

}  // namespace tokamak
