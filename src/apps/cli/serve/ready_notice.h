// The notice for systemd, or for another program with its protocol (sd_notify).
#pragma once
#include <string_view>

namespace tokamak::cli {

/// Sends `state`, such as "READY=1", to the socket that NOTIFY_SOCKET names; does nothing without.
void notify_systemd(std::string_view state);

}  // namespace tokamak::cli
