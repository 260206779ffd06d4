#include <fcntl.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/system/descriptors.h"
#include "base/system/interactive_terminal.h"
#include "base/system/signals.h"

namespace tokamak {
namespace {

// Signal handlers read these, so they are what a handler may touch and no members.
volatile std::sig_atomic_t g_interrupted = 0, g_redraw = 0;
bool g_is_terminal = false;
int g_paste_fd = -1;
termios g_before;          // of the terminal, when the chat began
int g_wake[2] = {-1, -1};  // a pipe: a signal may come between the question and the wait

constexpr int kEnding[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT};

void mark_pastes(bool on) {
  if (g_paste_fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(g_paste_fd, on ? "\033[?2004h" : "\033[?2004l", 8);
}

/// No handler waits for room in the pipe, and no other program gets it.
void open_wake() {
  if (pipe(g_wake) != 0) {
    g_wake[0] = g_wake[1] = -1;
    return;
  }
  for (const int end : g_wake) {
    fcntl(end, F_SETFL, O_NONBLOCK);
    fcntl(end, F_SETFD, FD_CLOEXEC);
  }
}

void wake() {
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(g_wake[1], &byte, 1);
}

void on_interrupt(int) {
  const int error = errno;
  g_interrupted = 1;
  wake();
  errno = error;
}

void on_resize(int) {
  const int error = errno;
  g_redraw = 1;
  wake();
  errno = error;
}

void put_back() {
  mark_pastes(false);
  if (g_is_terminal) tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
}

void on_end(int number) {
  put_back();
  raise(number);  // the handler is gone by now
}

void on_stop(int) {
  const int error = errno;
  termios now{};
  if (g_is_terminal) tcgetattr(STDIN_FILENO, &now);
  put_back();
  raise(SIGSTOP);
  if (g_is_terminal) tcsetattr(STDIN_FILENO, TCSANOW, &now);
  mark_pastes(true);
  g_redraw = 1;
  wake();
  errno = error;
}

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

}  // namespace

InteractiveTerminal::InteractiveTerminal(std::optional<StandardStream> pastes) {
  g_paste_fd = pastes ? static_cast<int>(*pastes) : -1;  // in their order
  g_is_terminal = tcgetattr(STDIN_FILENO, &g_before) == 0;
  open_wake();
  handle(SIGINT, on_interrupt, SA_RESTART);
  ignore_broken_pipes();
  if (!g_is_terminal) return;
  handle(SIGTSTP, on_stop, SA_RESTART);
  handle(SIGWINCH, on_resize, SA_RESTART);
  for (const int number : kEnding) handle(number, on_end, int(SA_RESETHAND | SA_NODEFER));
  hide_typing();
  mark_pastes(true);
}

InteractiveTerminal::~InteractiveTerminal() {
  put_back();
  signal(SIGTSTP, SIG_DFL);
  signal(SIGWINCH, SIG_DFL);
  for (const int number : kEnding) signal(number, SIG_DFL);
  g_is_terminal = false;
  g_paste_fd = -1;
}

bool InteractiveTerminal::interrupted() {
  return g_interrupted != 0;
}

void InteractiveTerminal::clear_interrupt() {
  g_interrupted = 0;
}

void InteractiveTerminal::hide_typing() {
  if (!g_is_terminal) return;
  termios quiet = g_before;
  quiet.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON);
  quiet.c_cc[VMIN] = 1;
  quiet.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet);
}

void InteractiveTerminal::show_typing() {
  if (g_is_terminal) tcsetattr(STDIN_FILENO, TCSADRAIN, &g_before);
}

InteractiveTerminal::Event InteractiveTerminal::wait_for_input() {
  pollfd waits[] = {{STDIN_FILENO, POLLIN, 0}, {g_wake[0], POLLIN, 0}};
  for (;;) {
    if (g_interrupted != 0) return Event::kInterrupt;
    if (g_redraw != 0) {
      g_redraw = 0;
      return Event::kRedraw;
    }
    if (wait_for_descriptors(waits, -1) < 0 && errno != EINTR) return Event::kReadable;
    char bytes[64];
    while (g_wake[0] >= 0 && read(g_wake[0], bytes, sizeof bytes) > 0) {
    }
    if (g_interrupted == 0 && g_redraw == 0 && waits[0].revents != 0) return Event::kReadable;
  }
}

}  // namespace tokamak
