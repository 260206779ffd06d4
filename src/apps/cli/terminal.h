// How commands talk to a terminal, to pipes and to files.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak::cli {

/// Set by Ctrl-C once catch_interrupts() was called; a second Ctrl-C ends the program.
bool interrupted();
void catch_interrupts();
/// Until catch_interrupts() is called again, the program ends two seconds after a Ctrl-C at most.
void end_soon_after_interrupts();
/// Forgets an earlier Ctrl-C.
void clear_interrupt();

/// While it lives, Ctrl-C ends the program at once: for work that cannot be stopped and leaves
/// nothing that is worth keeping.
class EndsAtOnce {
 public:
  EndsAtOnce();
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();

/// Writes to stdout at once. When nobody reads any more, the program ends without a word, as every
/// filter does; a full disk is an error. A terminal gets no control characters but line ends and
/// tabs (terminal_text): the text may be a model's.
Result<void> print(std::string_view text);
/// Whether print() failed: the exit status is kOutputStatus then.
bool output_failed();
inline constexpr int kOutputStatus = 6;
/// The same to stderr. Only what a line of progress begins with, "\r" or "\r\033[K", stays.
void note(std::string_view text);

/// The whole of standard input.
Result<std::string> read_stdin();
/// A text without the line end that editors and echo put at its end.
std::string without_line_end(std::string text);
/// Lines of a text, without their ends; no empty one after the last line end.
std::vector<std::string_view> lines_of(std::string_view text);

/// What the person at the terminal answers to "`question`? [Y/n] "; Enter means `otherwise`.
/// REQUIRES: standard input is a terminal.
bool agreed(std::string_view question, bool otherwise);

/// On a terminal, a line of standard error that says what the program is busy with, and for how
/// long, once that has taken a second; it disappears with the object.
class Waiting {
 public:
  explicit Waiting(std::string what);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  void say(std::string what);

 private:
  struct Line;
  std::unique_ptr<Line> line_;  // none without a terminal
};

}  // namespace tokamak::cli
