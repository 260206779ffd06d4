// The marks that tell CUDA devices apart, and the effect of CUDA_VISIBLE_DEVICES, in sentences.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace tokamak {

/// A CUDA device beside others of the machine.
struct CudaPlace {
  std::string name;       // for CUDA_VISIBLE_DEVICES: "GPU-...", "MIG-..." where it is a slice
  std::string address;    // on the bus, as nvidia-smi shows it: "0000:1B:00.0"
  uint64_t bytes = 0;     // of its memory
  bool is_slice = false;  // of a GPU that is divided (MIG)
};

namespace cuda {

/// The variable, which may be set and empty: then CUDA has no device.
std::optional<std::string> visible_devices();
/// How many GPUs the kernel's driver shows (/proc/driver/nvidia/gpus); 0 also where it shows
/// nothing.
uint32_t installed_gpus();

/// Why the driver, which is there, has no device.
std::string no_device_text(const std::optional<std::string>& visible, uint32_t installed);
/// Why there is no device `number` of `count`.
std::string no_such_device_text(uint32_t number, uint32_t count,
                                const std::optional<std::string>& visible);

}  // namespace cuda
}  // namespace tokamak
