// What `tokamak doctor` finds out: which devices there are, whether each computes rightly, and what
// to do about what does not work.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tune/self_test.h"

namespace tokamak {

struct DeviceReport {
  std::optional<uint32_t> index;  // as --device counts; none: the CPU
  DeviceInfo device;
  SelfTest self_test;
  std::string error;  // why it cannot be used at all

  bool works() const { return error.empty() && self_test.failed() == 0; }
};

/// What the operating system shows of graphics devices and their drivers.
struct GraphicsSystem {
  bool known = false;                     // false: nobody looked
  std::string vulkan_problem;             // why the Vulkan loader does not load; "": it does
  std::vector<std::string> manifests;     // driver files (*.json) where Vulkan looks for them
  std::string nvidia_version;             // of the kernel driver; "": there is none
  std::string nvidia_problem;             // why NVIDIA's Vulkan library does not load; "": it does
  std::vector<std::string> render_nodes;  // /dev/dri/renderD*
  std::vector<std::string> closed_nodes;  // those that this user may not open
};

struct DoctorReport {
  std::vector<DeviceReport> devices;  // WebGPU's in their order, then CUDA's, then the CPU
  std::string webgpu_problem;         // why there is no WebGPU device at all
  std::string cuda_problem;           // why CUDA is not used; "": it is, or nobody looked
  std::string cuda_compiler;          // which one is used
  GraphicsSystem system;

  /// No device that is there fails.
  bool healthy() const;
};

/// Sentences that say what to do, most urgent first; none when all is well.
std::vector<std::string> advice(const DoctorReport& report);

/// With `kernels` every kernel gets a line, else only those that fail.
std::string doctor_text(const DoctorReport& report, bool kernels);
Json doctor_json(const DoctorReport& report);

/// Looks at the system and runs the self-test on every device, or only on `only`. `progress` hears
/// what is being done. Native programs only. Errors: there is no device `only`.
Result<DoctorReport> examine(std::optional<uint32_t> only,
                             const std::function<void(const std::string& doing)>& progress = {});

GraphicsSystem look_at_system();

}  // namespace tokamak
