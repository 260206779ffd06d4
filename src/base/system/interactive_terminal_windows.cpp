#include <windows.h>

#include <atomic>

#include "base/system/interactive_terminal.h"
#include "base/system/signals.h"

namespace tokamak {
namespace {

std::atomic<bool> g_interrupted = false;
bool g_is_terminal = false;
DWORD g_before = 0;  // the mode of the console, when the conversation began

HANDLE input() {
  return ::GetStdHandle(STD_INPUT_HANDLE);
}

}  // namespace

/// The console marks no pasted text, and draws its own lines again.
InteractiveTerminal::InteractiveTerminal(std::optional<StandardStream>) {
  g_is_terminal = ::GetConsoleMode(input(), &g_before) != 0;
  on_interrupt([] { g_interrupted = true; });
  hide_typing();
}

InteractiveTerminal::~InteractiveTerminal() {
  show_typing();
  g_is_terminal = false;
}

bool InteractiveTerminal::interrupted() {
  return g_interrupted;
}

void InteractiveTerminal::clear_interrupt() {
  g_interrupted = false;
}

void InteractiveTerminal::hide_typing() {
  if (!g_is_terminal) return;
  const DWORD quiet = g_before & ~DWORD{ENABLE_ECHO_INPUT | ENABLE_LINE_INPUT};
  ::SetConsoleMode(input(), quiet | ENABLE_VIRTUAL_TERMINAL_INPUT);
}

void InteractiveTerminal::show_typing() {
  if (g_is_terminal) ::SetConsoleMode(input(), g_before);
}

InteractiveTerminal::Event InteractiveTerminal::wait_for_input() {
  for (;;) {
    if (g_interrupted) return Event::kInterrupt;
    if (File::standard(StandardStream::kInput).has_input(true)) return Event::kReadable;
  }
}

}  // namespace tokamak
