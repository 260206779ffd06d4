// The measurements of earlier runs on a device, for open(). Native programs only.
#pragma once
#include "tune/kept_verdicts.h"
#include "tune/measurement_cache.h"

namespace tokamak {

/// Verdicts on kernels, and what `tokamak tune` found; both in the user's cache folder.
MeasurementCache self_test_cache(const DeviceInfo& device);
MeasurementCache tuning_cache(const DeviceInfo& device);

/// Why nothing can be kept in the user's cache folder between starts; "" where it can.
std::string cache_problem();

/// Adds to `advice` what `tokamak tune` has found on the device.
void recall_tuned(const DeviceInfo& device, VariantAdvice& advice);
/// Adds to `advice` the kernels that have failed the self-test on the device.
void recall_verdicts(const DeviceInfo& device, VariantAdvice& advice);

/// That part of the user's cache as the self-test reads and writes it.
KeptVerdicts kept_verdicts(MeasurementCache cache);

/// Tests what `cache` says nothing of, and keeps the verdicts there.
Result<WrongVariants> find_wrong_kernels(Backend& backend, const Plan& plan,
                                         const MeasurementCache& cache);

}  // namespace tokamak
