// The loader for a program that is linked with Dawn: there is nothing to load.
#include "backend/webgpu/dawn/loader.h"

namespace tokamak {

Result<void> load_dawn(const std::string&) {
  return {};
}

}  // namespace tokamak
