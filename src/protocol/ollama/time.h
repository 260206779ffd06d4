// Times as Ollama writes them.
#pragma once
#include <cstdint>
#include <string>

namespace tokamak::protocol {

/// "2026-11-26T21:00:00Z"
std::string utc_time(int64_t unix_seconds);

}  // namespace tokamak::protocol
