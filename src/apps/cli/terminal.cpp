#include "apps/cli/terminal.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "base/terminal_text.h"
#include "base/wrap.h"

namespace tokamak::cli {
namespace {

constexpr unsigned kSecondsToEnd = 2;

volatile std::sig_atomic_t g_interrupted = 0, g_reaction = int(OnInterrupt::kEnd);
bool g_output_failed = false;
bool g_was_closed[3] = {};  // standard input, output and error, at the start

std::function<void(std::string_view)>& note_sink() {
  static std::function<void(std::string_view)> sink;
  return sink;
}

void end(int) {
  constexpr std::string_view kText = "\nInterrupted.\n";
  static_cast<void>(!write(STDERR_FILENO, kText.data(), kText.size()));
  _exit(130);
}

void on_signal(int signal) {
  if (g_interrupted != 0 || g_reaction == int(OnInterrupt::kEnd)) end(signal);
  g_interrupted = 1;
  if (g_reaction == int(OnInterrupt::kStopSoon)) alarm(kSecondsToEnd);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

/// Memory that nobody had a plan for: the rest of the program cannot go on without it.
[[noreturn]] void on_terminate() {
  const std::type_info* thrown = abi::__cxa_current_exception_type();
  if (thrown == nullptr ||
      (*thrown != typeid(std::bad_alloc) && *thrown != typeid(std::bad_array_new_length))) {
    std::abort();
  }
  constexpr std::string_view kText = "error: The program needs more memory than there is.\n";
  static_cast<void>(!write(STDERR_FILENO, kText.data(), kText.size()));
  _exit(kOutOfMemoryStatus);
}

}  // namespace

void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    g_was_closed[stream] = fcntl(stream, F_GETFD) < 0 && errno == EBADF;
    // The lowest number that is free is this one.
    if (g_was_closed[stream]) static_cast<void>(!open("/dev/null", O_RDWR));
  }
}

bool was_closed(StandardStream stream) {
  return g_was_closed[size_t(stream)];
}

void end_without_memory() {
  std::set_terminate(on_terminate);
}

void handle_signals() {
  struct sigaction inherited{};
  sigaction(SIGINT, nullptr, &inherited);
  // A shell starts what it runs in the background so that Ctrl-C is not for it.
  if (inherited.sa_handler != SIG_IGN) handle(SIGINT, on_signal);
  handle(SIGALRM, end);
  signal(SIGPIPE, SIG_IGN);
}

void when_interrupted(OnInterrupt reaction) {
  g_reaction = int(reaction);
  if (reaction != OnInterrupt::kStopSoon) alarm(0);
  if (reaction == OnInterrupt::kEnd && g_interrupted != 0) end(SIGINT);
}

WhenInterrupted::WhenInterrupted(OnInterrupt reaction) : before_(OnInterrupt(g_reaction)) {
  when_interrupted(reaction);
}
WhenInterrupted::~WhenInterrupted() {
  g_reaction = int(before_);
}

bool interrupted() {
  return g_interrupted != 0;
}

bool stdin_is_terminal() {
  return isatty(STDIN_FILENO) != 0;
}
bool stdout_is_terminal() {
  return isatty(STDOUT_FILENO) != 0;
}
bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) != 0;
}

size_t terminal_columns() {
  winsize size{};
  if (!stdout_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

size_t screen_columns() {
  const size_t columns = terminal_columns();
  return columns == 0 ? kScreenColumns : std::min(columns, kScreenColumns);
}

Result<void> print(std::string_view text) {
  static const bool is_terminal = stdout_is_terminal();
  return is_terminal ? print_codes(terminal_text(text)) : print_codes(text);
}

Result<void> print_codes(std::string_view text) {
  if (was_closed(StandardStream::kOutput)) {
    return output_failure("Writing the output failed: {}.", strerror(EBADF));
  }
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) {
      signal(SIGPIPE, SIG_DFL);
      raise(SIGPIPE);
    }
    if (written < 0) return output_failure("Writing the output failed: {}.", strerror(errno));
    text.remove_prefix(size_t(written));
  }
  return {};
}

bool output_failed() {
  return g_output_failed;
}

void note_output_failure() {
  g_output_failed = true;
}

void note(std::string_view text) {
  static const bool is_terminal = stderr_is_terminal();
  std::string safe;
  if (is_terminal) {
    for (const std::string_view progress : {"\r\033[K", "\r"}) {
      if (safe.empty() && text.starts_with(progress)) safe = progress;
    }
    text = safe += terminal_text(text.substr(safe.size()));
  }
  if (note_sink()) return note_sink()(text);
  note_codes(text);
}

void redirect_notes(std::function<void(std::string_view)> sink) {
  note_sink() = std::move(sink);
}

void note_codes(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(size_t(written));
  }
}

std::string time_left(double seconds) {
  const auto whole = uint64_t(std::max(seconds, 0.0));
  return fmt::format("{}:{:02} left", whole / 60, whole % 60);
}

bool agreed(std::string_view question, bool otherwise) {
  note(fmt::format("{}? [{}] ", question, otherwise ? "Y/n" : "y/N"));
  std::string line;
  char c = 0;
  bool is_answered = false;
  while (read(STDIN_FILENO, &c, 1) == 1 && !(is_answered = c == '\n')) line += c;
  if (!is_answered) return false;  // the end of the input, or Ctrl-C, agrees to nothing
  if (line.empty()) return otherwise;
  return line == "y" || line == "Y" || line == "yes";
}

}  // namespace tokamak::cli
