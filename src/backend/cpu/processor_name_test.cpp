#include "backend/cpu/processor_name.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tokamak {
namespace {

std::string name_in(const std::string& cpuinfo) {
  std::istringstream file(cpuinfo);
  return processor_name(file);
}

std::string core(const char* implementer, const char* part) {
  return std::string("processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: ") + implementer +
         "\nCPU architecture: 8\nCPU part\t: " + part + "\nCPU revision\t: 1\n\n";
}

TEST(ProcessorName, IsThatOfTheModelWhereThereIsOne) {
  EXPECT_EQ(name_in("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9V74 80-Core\n"),
            "AMD EPYC 9V74 80-Core");
}

TEST(ProcessorName, IsThatOfEachKindOfCoreOnArm) {
  EXPECT_EQ(name_in(core("0x41", "0xd0c") + core("0x41", "0xd0c")), "Neoverse-N1");
  EXPECT_EQ(name_in(core("0x41", "0xd05") + core("0x41", "0xd0b") + core("0x41", "0xd0b")),
            "Cortex-A55, Cortex-A76");
}

TEST(ProcessorName, HasTheNumbersOfACoreThatIsNotKnown) {
  EXPECT_EQ(name_in(core("0x41", "0xfff")), "ARM processor 0x41:0xfff");
}

TEST(ProcessorName, IsProcessorWhereThereIsNone) {
  EXPECT_EQ(name_in("processor\t: 0\n"), "Processor");
}

}  // namespace
}  // namespace tokamak
