#include <signal.h>
#include <unistd.h>

#include "base/system/signals.h"

namespace tokamak {
namespace {

void (*g_on_interrupt)() = nullptr;
void (*g_on_alarm)() = nullptr;

void handle_interrupt(int) {
  g_on_interrupt();
}
void handle_alarm(int) {
  g_on_alarm();
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  ::sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction inherited = {};
  ::sigaction(number, nullptr, &inherited);
  return inherited.sa_handler == SIG_IGN;
}

}  // namespace

std::optional<int> heeded_signal(Signal signal) {
  if (signal == Signal::kTerminate) return SIGTERM;
  const int number = signal == Signal::kInterrupt ? SIGINT : SIGHUP;
  return is_ignored(number) ? std::nullopt : std::optional(number);
}

void on_interrupt(void (*react)()) {
  g_on_interrupt = react;
  if (!is_ignored(SIGINT)) handle(SIGINT, handle_interrupt);
}

void after_seconds(unsigned seconds, void (*react)()) {
  g_on_alarm = react;
  if (seconds != 0) handle(SIGALRM, handle_alarm);
  ::alarm(seconds);
}

void ignore_broken_pipes() {
  ::signal(SIGPIPE, SIG_IGN);
}

void end_at_once(std::string_view last_words, int status) {
  static_cast<void>(!::write(STDERR_FILENO, last_words.data(), last_words.size()));
  ::_exit(status);
}

}  // namespace tokamak
