// A line of the log for each answer; none of it is of a request's or an answer's text.
#pragma once
#include <cstdint>
#include <string>

#include "serve/http/server.h"

namespace tokamak::serve {

enum class LogFormat : uint8_t { kOff, kText, kJson };

/// `unix_seconds`: now. "" where there is no log.
std::string log_line(const Answered& answered, LogFormat format, double unix_seconds);

/// A message of the program, "warning: ...", as a line of that log: as it is, or an object with its
/// level (note, warning, error; info where it begins with none of these words).
std::string message_line(std::string_view text, LogFormat format, double unix_seconds);

}  // namespace tokamak::serve
