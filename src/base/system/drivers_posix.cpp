#include "base/system/drivers.h"

namespace tokamak {

GraphicsDrivers graphics_drivers() {
  return {.vulkan = "libvulkan.so.1",
          .vulkan_advice =
              "Install it: libvulkan1 on Debian and Ubuntu, vulkan-loader on Fedora, "
              "vulkan-icd-loader on Arch.",
          .cuda = "libcuda.so.1",
          .are_files = true};
}

}  // namespace tokamak
