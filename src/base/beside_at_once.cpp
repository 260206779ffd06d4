#include "base/beside.h"

namespace tokamak {

struct Beside::Thread {};

Beside::Beside(std::function<void()> work) {
  work();
}

Beside::~Beside() = default;

void Beside::wait() {}

}  // namespace tokamak
