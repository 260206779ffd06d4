// Verdicts of the self-test that outlive a run, wherever they are kept: in a file natively, in a
// note of the page in the browser.
#pragma once
#include <functional>
#include <string>

#include "base/json.h"
#include "tune/self_test.h"

namespace tokamak {

/// The verdicts of a JSON object; none where it is something else.
Verdicts read_verdicts(const Json& kept);
/// The object that read_verdicts() reads.
Json to_json(const Verdicts& verdicts);

/// Names the device, its driver and these kernels: verdicts on others count for nothing.
std::string verdicts_name(const DeviceInfo& device);

/// The place of verdicts on a device and its kernels, a JSON object.
struct KeptVerdicts {
  std::function<Json()> read;  // null where there are none
  std::function<void(const Json&)> write;
};

/// Tests what `kept` says nothing of, and keeps the verdicts there.
Result<WrongVariants> find_wrong_kernels(Backend& backend, const Plan& plan,
                                         const KeptVerdicts& kept);

}  // namespace tokamak
