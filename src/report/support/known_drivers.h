// The faults that others saw of drivers: a table, so that a person who meets one finds who met it
// before.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace tokamak {

struct KnownFault {
  std::string_view device, driver;  // parts of their names, both of which fit; "": any
  std::string_view symptom;         // seen with other programs
  std::string_view link;
};

/// Those of a device; none of a software driver. What is here of them the self-test finds.
std::vector<KnownFault> known_faults(const DeviceInfo& device);

}  // namespace tokamak
