#include "apps/cli/line/terminal.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "base/system/signals.h"
#include "base/system/terminal.h"
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

void end() {
  end_at_once("\nInterrupted.\n", 130);
}

void interrupt() {
  if (g_interrupted != 0 || g_reaction == int(OnInterrupt::kEnd)) end();
  g_interrupted = 1;
  if (g_reaction == int(OnInterrupt::kStopSoon)) after_seconds(kSecondsToEnd, end);
}

/// Memory that nobody had a plan for: the rest of the program cannot go on without it.
[[noreturn]] void on_terminate() {
  const std::type_info* thrown = abi::__cxa_current_exception_type();
  if (thrown == nullptr ||
      (*thrown != typeid(std::bad_alloc) && *thrown != typeid(std::bad_array_new_length))) {
    std::abort();
  }
  end_at_once("error: The program needs more memory than there is.\n", kOutOfMemoryStatus);
}

}  // namespace

void open_closed_streams() {
  using enum StandardStream;
  for (const StandardStream stream : {kInput, kOutput, kError}) {
    g_was_closed[size_t(stream)] = open_if_closed(stream);
  }
}

bool was_closed(StandardStream stream) {
  return g_was_closed[size_t(stream)];
}

void end_without_memory() {
  std::set_terminate(on_terminate);
}

void handle_signals() {
  on_interrupt(interrupt);
  ignore_broken_pipes();
}

void when_interrupted(OnInterrupt reaction) {
  g_reaction = int(reaction);
  if (reaction != OnInterrupt::kStopSoon) after_seconds(0, end);
  if (reaction == OnInterrupt::kEnd && g_interrupted != 0) end();
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
  return is_terminal(StandardStream::kInput);
}
bool stdout_is_terminal() {
  return is_terminal(StandardStream::kOutput);
}
bool stderr_is_terminal() {
  return is_terminal(StandardStream::kError);
}

size_t terminal_columns() {
  return columns_of(StandardStream::kOutput);
}

size_t screen_columns() {
  const size_t columns = terminal_columns();
  return columns == 0 ? kScreenColumns : std::min(columns, kScreenColumns);
}

Result<void> print(std::string_view text) {
  static const bool is_shown = stdout_is_terminal();
  return is_shown ? print_codes(terminal_text(text)) : print_codes(text);
}

Result<void> print_codes(std::string_view text) {
  if (was_closed(StandardStream::kOutput)) {
    return output_failure("Writing the output failed: {}.", strerror(EBADF));
  }
  const auto written = write_to_reader(text);
  if (written) return {};
  return output_failure("Writing the output failed: {}.", written.error().message);
}

bool output_failed() {
  return g_output_failed;
}

void note_output_failure() {
  g_output_failed = true;
}

void note(std::string_view text) {
  static const bool is_shown = stderr_is_terminal();
  std::string safe;
  if (is_shown) {
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
  static_cast<void>(File::standard(StandardStream::kError).write(text));
}

std::string time_left(double seconds) {
  const auto whole = uint64_t(std::max(seconds, 0.0));
  return fmt::format("{}:{:02} left", whole / 60, whole % 60);
}

bool agreed(std::string_view question, bool otherwise) {
  note(fmt::format("{}? [{}] ", question, otherwise ? "Y/n" : "y/N"));
  File input = File::standard(StandardStream::kInput);
  std::string line;
  std::array<char, 1> c = {};
  bool is_answered = false;
  while (input.has_input(true) &&
         input.read(std::as_writable_bytes(std::span(c))).value_or(0) == 1 &&
         !(is_answered = c[0] == '\n')) {
    line += c[0];
  }
  if (!is_answered) return false;  // the end of the input, or Ctrl-C, agrees to nothing
  if (line.empty()) return otherwise;
  return line == "y" || line == "Y" || line == "yes";
}

}  // namespace tokamak::cli
