// The name of a processor of which a module knows nothing.
#include "backend/cpu/processor_name.h"

namespace tokamak {

std::string processor_name() {
  return "Processor";
}

}  // namespace tokamak
