#include "base/system/drivers.h"

namespace tokamak {

/// Not CUDA: its compiler has not been tried here, and NVIDIA's driver has Vulkan, too.
GraphicsDrivers graphics_drivers() {
  return {.vulkan = "vulkan-1.dll",
          .vulkan_advice = "The driver of the graphics card from NVIDIA, AMD or Intel brings it.",
          .cuda = nullptr,
          .are_files = false};
}

}  // namespace tokamak
