#include "apps/cli/terminal.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/terminal_text.h"

namespace tokamak::cli {
namespace {

constexpr unsigned kSecondsToEnd = 2;

volatile std::sig_atomic_t g_interrupted = 0, g_reaction = int(OnInterrupt::kEnd);
bool g_output_failed = false;

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

}  // namespace

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

Result<void> print(std::string_view text) {
  static const bool is_terminal = stdout_is_terminal();
  std::string safe;
  if (is_terminal) text = safe = terminal_text(text);
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) {
      signal(SIGPIPE, SIG_DFL);
      raise(SIGPIPE);
    }
    if (written < 0) {
      g_output_failed = true;
      return invalid_input("Writing the output failed: {}.", std::strerror(errno));
    }
    text.remove_prefix(size_t(written));
  }
  return {};
}

bool output_failed() {
  return g_output_failed;
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

Result<std::string> read_stdin() {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return invalid_input("Reading standard input failed: {}.", std::strerror(errno));
    if (count == 0) return text;
    text.append(buffer, size_t(count));
  }
}

std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
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
