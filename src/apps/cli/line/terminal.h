// How commands talk to a terminal, to pipes and to files.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/system/file.h"

namespace tokamak::cli {

/// The effect of Ctrl-C.
enum class OnInterrupt : uint8_t {
  kEnd,       // the program ends at once: what is done leaves nothing that is worth keeping
  kStopSoon,  // interrupted() is true, and the program ends two seconds later at most
  kStop,      // interrupted() is true; a second Ctrl-C ends the program
};

/// For the start of the program, before it opens anything: standard input, output and error that
/// are closed become /dev/null, so that no other file gets their numbers.
void open_closed_streams();
/// Whether that stream was closed at the start.
bool was_closed(StandardStream stream);
/// From here on memory that runs out, on whichever thread, ends the program with a sentence and
/// kOutOfMemoryStatus.
void end_without_memory();
inline constexpr int kOutOfMemoryStatus = 5;

/// For the start of the program: Ctrl-C ends it with a word and exit code 130 from here on, and a
/// closed pipe is an error of print() or of a socket.
void handle_signals();
/// From here on. Ends the program when there was a Ctrl-C and `reaction` is kEnd.
void when_interrupted(OnInterrupt reaction);
/// The same for as long as it lives.
class WhenInterrupted {
 public:
  explicit WhenInterrupted(OnInterrupt reaction);
  ~WhenInterrupted();
  WhenInterrupted(const WhenInterrupted&) = delete;
  WhenInterrupted& operator=(const WhenInterrupted&) = delete;

 private:
  OnInterrupt before_;
};
/// There was a Ctrl-C that did not end the program.
bool interrupted();

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();
/// The columns of the terminal that standard output is; 0 where it is none or does not say.
size_t terminal_columns();
/// The columns that the help fits in: those, or kScreenColumns where they are more or not known.
size_t screen_columns();

/// Writes to stdout at once. When nobody reads any more, the program ends without a word, as every
/// filter does; a full disk is an error. A terminal gets no control characters but line ends and
/// tabs (terminal_text): the text may be a model's.
Result<void> print(std::string_view text);
/// The same with codes for the terminal. REQUIRES: no stranger wrote them.
Result<void> print_codes(std::string_view text);
/// Whether an output could not be written: the exit status is kOutputStatus then.
bool output_failed();
void note_output_failure();
inline constexpr int kOutputStatus = 6;
/// An error of an output: it ends the program with kOutputStatus.
template <typename... Args>
Failure output_failure(fmt::format_string<Args...> format, Args&&... args) {
  note_output_failure();
  return invalid_input(format, std::forward<Args>(args)...);
}
/// The same to stderr. Only what a line of progress begins with, "\r" or "\r\033[K", stays.
void note(std::string_view text);
/// From here on note() hands its texts to `sink`, which any thread may call.
void redirect_notes(std::function<void(std::string_view)> sink);
/// The same with codes for the terminal. REQUIRES: the text is this program's own.
void note_codes(std::string_view text);

/// "1:05 left": minutes and seconds, for a line of progress.
std::string time_left(double seconds);

/// Returns the person's answer to "`question`? [Y/n] "; Enter means `otherwise`. REQUIRES: standard
/// input is a terminal.
bool agreed(std::string_view question, bool otherwise);

/// On a terminal, a line of standard error that says what the program is busy with, and for how
/// long, once that has taken a second; it disappears with the object.
class Waiting {
 public:
  /// kAfterText: where what was printed last ends; that stays.
  enum class Place : uint8_t { kOwnLine, kAfterText };
  explicit Waiting(std::string what, Place place = Place::kOwnLine);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  void say(std::string what);

 private:
  struct Line;
  std::unique_ptr<Line> line_;  // none without a terminal
};

/// The same for an answer: until its first token has come, and from that to the second. Where
/// `compiles`, kernels are compiled when they first run, those that decode after the prompt's.
class AnswerWaiting {
 public:
  explicit AnswerWaiting(bool compiles);
  /// Begins with something else, until read_prompt().
  AnswerWaiting(std::string what, bool compiles);
  void read_prompt();
  /// A token has come, and what it says is printed at once.
  void token();
  /// A token has come that nobody sees.
  void hidden_token();
  void end() { waiting_.reset(); }

 private:
  bool compiles_;
  uint64_t tokens_ = 0, hidden_ = 0;
  std::optional<Waiting> waiting_;
};

}  // namespace tokamak::cli
