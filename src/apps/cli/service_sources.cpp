#include "apps/cli/service_sources.h"

#include <chrono>
#include <memory>
#include <random>

#include "base/splitmix.h"

namespace tokamak::cli {

std::function<uint64_t()> random_numbers() {
  std::random_device device;
  const uint64_t seed = (uint64_t{device()} << 32) | device();
  return [state = std::make_shared<uint64_t>(seed)] { return next_random(*state); };
}

int64_t unix_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

}  // namespace tokamak::cli
