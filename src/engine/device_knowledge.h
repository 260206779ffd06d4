// Where open() finds what earlier runs have learnt of a device. Native programs only.
#pragma once
#include "engine/device_notes.h"
#include "engine/self_test.h"

namespace tokamak {

/// Verdicts on kernels, and what `tokamak tune` found; both in the user's cache folder.
DeviceNotes self_test_notes(const DeviceInfo& device);
DeviceNotes tuning_notes(const DeviceInfo& device);

/// Why nothing can be kept in the user's cache folder between starts; "" where it can.
std::string cache_problem();

/// Adds to `advice` what `tokamak tune` has found on the device.
void recall_tuned(const DeviceInfo& device, VariantAdvice& advice);
/// Adds to `advice` the kernels that have failed the self-test on the device.
void recall_verdicts(const DeviceInfo& device, VariantAdvice& advice);

/// Tests what `notes` say nothing of, and keeps the verdicts there.
Result<WrongVariants> find_wrong_kernels(Backend& backend, const Plan& plan,
                                         const DeviceNotes& notes);

}  // namespace tokamak
