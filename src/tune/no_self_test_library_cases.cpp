#include "tune/self_test_writer.h"

namespace tokamak {

void add_library_cases(std::vector<SelfTestCase>&, const SelfTestSteps&) {}

}  // namespace tokamak
