// Dates and times of day, which each system computes by functions of its own.
#pragma once
#include <ctime>
#include <optional>

namespace tokamak {

/// The parts of a time in UTC; nothing where its year does not fit.
std::optional<std::tm> utc_time(std::time_t time);
/// The same in the time zone of this machine.
std::optional<std::tm> local_time(std::time_t time);

}  // namespace tokamak
