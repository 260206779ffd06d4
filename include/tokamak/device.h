// The devices that a model can be opened on.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tokamak {

struct DeviceDetails {
  std::string backend = {};  // cuda, webgpu or cpu: ModelOptions::backend
  uint32_t number = 0;       // ModelOptions::device; the CPU takes none
  std::string name = {};     // "NVIDIA H200"
  std::string driver = {};   // free text
  bool is_software = false;  // a driver that computes on the CPU, slowly, or the CPU's reference
};

struct DeviceList {
  std::vector<DeviceDetails> devices = {};  // of CUDA, then of WebGPU, then the CPU
  std::string cuda_problem = {};            // why there is none of CUDA; "": there is
  std::string webgpu_problem = {};          // the same of WebGPU
};

/// Looks for devices and opens none of them.
DeviceList list_devices();

}  // namespace tokamak
