// The name of the processor, as people know it.
#pragma once
#include <iosfwd>
#include <string>

namespace tokamak {

/// "AMD EPYC 9V74 80-Core Processor" of Linux's /proc/cpuinfo. ARM's has numbers in place of a
/// name: "Cortex-A76, Cortex-A55" of them, in the order of their first cores. "Processor" where
/// there is nothing of either.
std::string processor_name(std::istream& cpuinfo);

/// The same of this machine.
std::string processor_name();

}  // namespace tokamak
