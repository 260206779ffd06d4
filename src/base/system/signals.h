// Interruptions of a program, by the person at the keyboard or the system. Native builds only.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tokamak {

/// kTerminate: who runs the program asks it to end. kHangup: its terminal has closed.
enum class Signal : uint8_t { kInterrupt, kTerminate, kHangup };

/// The number of a signal that this program is to heed; nothing where the system has none. A shell
/// starts what it runs in the background so that Ctrl-C is not for it, and nohup so that a terminal
/// that closes is none of its business.
std::optional<int> heeded_signal(Signal signal);

/// Calls `react` at each Ctrl-C that is for this program, wherever the program is by then: it may
/// do what a handler of signals may. Waiting for input or output ends by it.
void on_interrupt(void (*react)());

/// Calls `react` once in the same way, after that time; 0: no more.
void after_seconds(unsigned seconds, void (*react)());

/// From here on it is an error of writing when nobody reads any more, and no end of the program.
void ignore_broken_pipes();

/// Writes that to standard error and ends the program, whatever else runs. For handlers, too.
[[noreturn]] void end_at_once(std::string_view last_words, int status);

}  // namespace tokamak
