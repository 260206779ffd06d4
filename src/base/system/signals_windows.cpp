// Ctrl-C comes on a thread of its own here, and so does the end of a time.
#include "base/system/signals_windows.h"

#include <windows.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/system/signals.h"

namespace tokamak {
namespace {

std::atomic<void (*)()> g_on_interrupt = nullptr, g_on_alarm = nullptr;

BOOL WINAPI handle_interrupt(DWORD event) {
  if (event != CTRL_C_EVENT) return FALSE;
  ::SetEvent(interrupt_event());
  g_on_interrupt.load()();
  return TRUE;
}

void CALLBACK handle_alarm(PTP_CALLBACK_INSTANCE, void*, PTP_TIMER) {
  g_on_alarm.load()();
}

}  // namespace

void* interrupt_event() {
  static const HANDLE event = ::CreateEventW(nullptr, FALSE, FALSE, nullptr);
  return event;
}

std::optional<int> heeded_signal(Signal signal) {
  switch (signal) {
    case Signal::kInterrupt:
      // Who heeds the number does so by the C library, before which the handler here would come.
      if (g_on_interrupt.exchange(nullptr) != nullptr) {
        ::SetConsoleCtrlHandler(handle_interrupt, FALSE);
      }
      return SIGINT;
    case Signal::kTerminate:
      return SIGTERM;
    case Signal::kHangup:
      return std::nullopt;
  }
  return std::nullopt;
}

void on_interrupt(void (*react)()) {
  const bool is_first = g_on_interrupt.exchange(react) == nullptr;
  if (is_first) ::SetConsoleCtrlHandler(handle_interrupt, TRUE);
}

void after_seconds(unsigned seconds, void (*react)()) {
  static const PTP_TIMER timer = ::CreateThreadpoolTimer(handle_alarm, nullptr, nullptr);
  g_on_alarm = react;
  // Negative: from now on, in units of 100 ns.
  ULARGE_INTEGER due = {};
  due.QuadPart = static_cast<ULONGLONG>(-int64_t{seconds} * 10'000'000);
  FILETIME time = {.dwLowDateTime = due.LowPart, .dwHighDateTime = due.HighPart};
  ::SetThreadpoolTimer(timer, seconds == 0 ? nullptr : &time, 0, 0);
}

/// It is an error here, always.
void ignore_broken_pipes() {}

void end_at_once(std::string_view last_words, int status) {
  DWORD written = 0;
  ::WriteFile(::GetStdHandle(STD_ERROR_HANDLE), last_words.data(),
              static_cast<DWORD>(last_words.size()), &written, nullptr);
  std::_Exit(status);
}

}  // namespace tokamak
