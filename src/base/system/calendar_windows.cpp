#include <time.h>

#include "base/system/calendar.h"

namespace tokamak {

std::optional<std::tm> utc_time(std::time_t time) {
  std::tm parts = {};
  if (::gmtime_s(&parts, &time) != 0) return std::nullopt;
  return parts;
}

std::optional<std::tm> local_time(std::time_t time) {
  std::tm parts = {};
  if (::localtime_s(&parts, &time) != 0) return std::nullopt;
  return parts;
}

}  // namespace tokamak
