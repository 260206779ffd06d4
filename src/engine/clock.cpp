#include <chrono>

#include "engine/engine.h"

namespace tokamak {

Clock steady_clock() {
  return [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
}

}  // namespace tokamak
