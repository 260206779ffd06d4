// The findings of `tokamak doctor`: which devices there are, whether each computes rightly, and
// what to do about what does not work.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/links.h"
#include "backend/cuda/visible.h"
#include "engine/engine.h"
#include "tune/self_test.h"

namespace tokamak {

struct DeviceReport {
  std::optional<uint32_t> index;  // as --device counts; none: the CPU
  DeviceInfo device;
  SelfTest self_test;
  std::string error;               // why it cannot be used at all
  std::optional<CudaPlace> place;  // none: not a CUDA device

  bool works() const { return error.empty() && self_test.failed() == 0; }
  bool is_cuda() const { return device.backend == BackendKind::kCuda; }
};

/// "device 0" of WebGPU, "CUDA device 0".
std::string device_number(const DeviceReport& report);

/// The graphics devices and drivers of the operating system.
struct GraphicsSystem {
  bool known = false;                     // false: nobody looked
  bool are_files = true;                  // the rest is known by files, or else not at all
  std::string vulkan_problem;             // why the Vulkan loader does not load; "": it does
  std::string vulkan_advice;              // how the loader comes here
  std::vector<std::string> manifests;     // driver files (*.json) where Vulkan looks for them
  std::string nvidia_version;             // of the kernel driver; "": there is none
  std::string nvidia_problem;             // why NVIDIA's Vulkan library does not load; "": it does
  std::vector<std::string> render_nodes;  // /dev/dri/renderD*
  std::vector<std::string> closed_nodes;  // those that this user may not open
};

struct DoctorReport {
  std::vector<DeviceReport> devices;        // WebGPU's in their order, then CUDA's, then the CPU
  std::vector<CudaLink> links;              // between CUDA devices, for models that share them
  std::string webgpu_problem;               // why there is no WebGPU device at all
  std::string cuda_problem;                 // why CUDA is not used; "": it is, or nobody looked
  std::string cuda_compiler;                // which one is used
  std::optional<std::string> cuda_visible;  // CUDA_VISIBLE_DEVICES, where it is set
  std::string cuda_order;                   // CUDA_DEVICE_ORDER
  uint32_t nvidia_gpus = 0;                 // that the kernel's driver shows
  bool is_part = false;                     // of the devices: others were not looked at
  GraphicsSystem system;

  /// No device that is there fails.
  bool healthy() const;
};

/// Sentences that say what to do, most urgent first; none when all is well.
std::vector<std::string> advice(const DoctorReport& report);

/// With `kernels` every kernel gets a line, else only those that fail.
std::string doctor_text(const DoctorReport& report, bool kernels);
Json doctor_json(const DoctorReport& report);

/// Which devices are looked at.
struct DoctorScope {
  std::optional<uint32_t> device;      // of this number, of every backend; none: all
  std::optional<BackendKind> backend;  // kWebGpu or kCuda; none: both
};

/// Looks at the system and runs the self-test on the devices. `progress` gets what is being done.
/// Native programs only. Errors: there is no device of that number.
Result<DoctorReport> examine(const DoctorScope& scope,
                             const std::function<void(const std::string& doing)>& progress = {});

GraphicsSystem look_at_system();

}  // namespace tokamak
