// Asking again and again, where being woken takes longer than what is waited for.
#pragma once
#include <chrono>
#include <functional>

namespace tokamak {

/// How long to ask without a pause, how long the pauses behind that are, and when to give up.
struct Patience {
  std::chrono::microseconds eager, pause, most;
};

/// Calls `ask` until it answers true: true then, false when patience ends. Asks once where there
/// are no threads: what is waited for comes when the program has returned.
bool ask_until_true(const std::function<bool()>& ask, const Patience& patience);

}  // namespace tokamak
