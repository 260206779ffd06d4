#include <time.h>

#include "base/system/calendar.h"

namespace tokamak {

std::optional<std::tm> utc_time(std::time_t time) {
  std::tm parts = {};
  if (::gmtime_r(&time, &parts) == nullptr) return std::nullopt;
  return parts;
}

std::optional<std::tm> local_time(std::time_t time) {
  std::tm parts = {};
  if (::localtime_r(&time, &parts) == nullptr) return std::nullopt;
  return parts;
}

}  // namespace tokamak
