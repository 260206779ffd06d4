// Browsers have no standard error to hold back.
#include "backend/webgpu/dawn/quiet.h"

namespace tokamak {

void without_dawn_remarks(const std::function<void()>& action) {
  action();
}

}  // namespace tokamak
