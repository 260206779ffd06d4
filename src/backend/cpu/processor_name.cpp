#include "backend/cpu/processor_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/system/machine.h"

namespace tokamak {
namespace {

/// The name of a core by the numbers in its register MIDR_EL1.
struct ArmCore {
  unsigned long implementer, part;
  std::string_view name;
};

// The names of util-linux's lscpu, for cores that a program is likely to meet.
constexpr ArmCore kArmCores[] = {
    {0x41, 0xd03, "Cortex-A53"},   {0x41, 0xd05, "Cortex-A55"},  {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},   {0x41, 0xd09, "Cortex-A73"},  {0x41, 0xd0a, "Cortex-A75"},
    {0x41, 0xd0b, "Cortex-A76"},   {0x41, 0xd0c, "Neoverse-N1"}, {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd40, "Neoverse-V1"},  {0x41, 0xd41, "Cortex-A78"},  {0x41, 0xd44, "Cortex-X1"},
    {0x41, 0xd46, "Cortex-A510"},  {0x41, 0xd47, "Cortex-A710"}, {0x41, 0xd48, "Cortex-X2"},
    {0x41, 0xd49, "Neoverse-N2"},  {0x41, 0xd4d, "Cortex-A715"}, {0x41, 0xd4e, "Cortex-X3"},
    {0x41, 0xd4f, "Neoverse-V2"},  {0x41, 0xd80, "Cortex-A520"}, {0x41, 0xd81, "Cortex-A720"},
    {0x41, 0xd82, "Cortex-X4"},    {0x41, 0xd84, "Neoverse-V3"}, {0x41, 0xd85, "Cortex-X925"},
    {0x41, 0xd87, "Cortex-A725"},  {0x41, 0xd8e, "Neoverse-N3"}, {0x46, 0x001, "A64FX"},
    {0x48, 0xd01, "TaiShan-v110"}, {0x51, 0x001, "Oryon"},       {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1a"},
};

std::string name_of(unsigned long implementer, unsigned long part) {
  const auto* known = std::ranges::find_if(kArmCores, [&](const ArmCore& core) {
    return core.implementer == implementer && core.part == part;
  });
  if (known != std::end(kArmCores)) return std::string(known->name);
  return fmt::format("ARM processor {:#04x}:{:#05x}", implementer, part);
}

}  // namespace

std::string processor_name(std::istream& cpuinfo) {
  std::vector<std::string> names;
  unsigned long implementer = 0;
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) {
      implementer = std::strtoul(value.c_str(), nullptr, 16);
    } else if (line.starts_with("CPU part")) {
      std::string name = name_of(implementer, std::strtoul(value.c_str(), nullptr, 16));
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names.empty() ? "Processor" : fmt::format("{}", fmt::join(names, ", "));
}

std::string processor_name() {
  if (std::string name = system_processor_name(); !name.empty()) return name;
  std::ifstream cpuinfo("/proc/cpuinfo");
  return processor_name(cpuinfo);
}

}  // namespace tokamak
