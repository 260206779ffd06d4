#include "base/system/drivers.h"

namespace tokamak {

/// Metal is part of the system, and its drivers with it.
GraphicsDrivers graphics_drivers() {
  return {.vulkan = nullptr, .vulkan_advice = "", .cuda = nullptr, .are_files = false};
}

}  // namespace tokamak
