// The drivers of graphics devices, as this system has them. Native builds only.
#pragma once

namespace tokamak {

struct GraphicsDrivers {
  const char* vulkan;         // the library that leads to drivers of Vulkan; null: it is not used
  const char* vulkan_advice;  // how it comes here
  const char* cuda;           // the library of NVIDIA's driver; null: CUDA is not used
  bool are_files;             // devices and drivers are files in folders that all know
};

GraphicsDrivers graphics_drivers();

}  // namespace tokamak
