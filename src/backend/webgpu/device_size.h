// How large a device is, by its name: WebGPU tells neither multiprocessors nor caches.
#pragma once
#include <string_view>

#include "kernels/kernel.h"

namespace tokamak {

/// Looks up the device of that name, as drivers spell it; where the table lacks it, an assumption
/// about the vendor's devices, or about any.
DeviceSize size_of_device(std::string_view name, std::string_view vendor);

/// That of an H200, however many cores there are: software devices run its launches, so that tests
/// cover these on every machine, and the same ones.
DeviceSize size_of_software();

}  // namespace tokamak
