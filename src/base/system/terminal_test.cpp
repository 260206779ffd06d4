#include "base/system/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/interactive_terminal.h"
#include "base/system/signals.h"

namespace tokamak {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends) close(end);
  }
  std::string text() const {
    char buffer[256];
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    return count > 0 ? std::string(buffer, size_t(count)) : "";
  }

  int ends[2] = {-1, -1};
};

/// The status that a process ends with which runs `work` in place of this one.
template <typename Work>
int status_of(const Work& work) {
  const pid_t other = fork();
  if (other == 0) {
    work();
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(other, &status, 0), other);
  return status;
}

TEST(Terminal, APipeIsNone) {
  EXPECT_EQ(status_of([] {
              const Pipe pipe;
              dup2(pipe.ends[1], STDOUT_FILENO);
              const bool is_one = is_terminal(StandardStream::kOutput);
              _exit(is_one || columns_of(StandardStream::kOutput) != 0 ? 1 : 0);
            }),
            0);
}

TEST(Terminal, OpensAStreamThatIsClosed) {
  EXPECT_EQ(status_of([] {
              close(STDIN_FILENO);
              const bool was_closed = open_if_closed(StandardStream::kInput);
              char byte;
              const bool has_nothing = read(STDIN_FILENO, &byte, 1) == 0;
              _exit(was_closed && has_nothing && !open_if_closed(StandardStream::kInput) ? 0 : 1);
            }),
            0);
}

TEST(Terminal, ErrorsAreSilentForAWhile) {
  const Pipe pipe;
  EXPECT_EQ(status_of([&] {
              dup2(pipe.ends[1], STDERR_FILENO);
              {
                const SilentErrors silent;
                static_cast<void>(File::standard(StandardStream::kError).write("lost"));
              }
              static_cast<void>(File::standard(StandardStream::kError).write("kept"));
            }),
            0);
  EXPECT_EQ(pipe.text(), "kept");
}

TEST(Terminal, WhoseReaderIsGoneEndsAsAFilter) {
  const int status = status_of([] {
    {
      const Pipe pipe;
      dup2(pipe.ends[1], STDOUT_FILENO);
    }
    ignore_broken_pipes();
    static_cast<void>(write_to_reader("text"));
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGPIPE);
}

TEST(Terminal, ReadsAndWritesWhatDoesNotWait) {
  const Pipe pipe;
  File in = File::borrowed(pipe.ends[0]), out = File::borrowed(pipe.ends[1]);
  EXPECT_FALSE(in.has_input(false));
  EXPECT_EQ(out.write_some("abc", 0).value(), 3u);
  EXPECT_TRUE(in.has_input(false));
  const std::string much(4096, 'x');
  while (out.write_some(much, 0).value() > 0) {
  }
  EXPECT_EQ(out.write_some(much, 0).value(), 0u);
}

TEST(Signals, EndTheProgramWithItsLastWords) {
  const Pipe pipe;
  const int status = status_of([&] {
    dup2(pipe.ends[1], STDERR_FILENO);
    on_interrupt([] { end_at_once("bye", 42); });
    raise(SIGINT);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(pipe.text(), "bye");
}

TEST(Signals, AreNotHeededWhereTheProgramWasStartedSo) {
  EXPECT_EQ(heeded_signal(Signal::kTerminate), SIGTERM);
  EXPECT_EQ(status_of([] {
              signal(SIGINT, SIG_IGN);
              signal(SIGHUP, SIG_DFL);
              on_interrupt([] { _exit(1); });
              raise(SIGINT);
              const bool is_right =
                  !heeded_signal(Signal::kInterrupt) && heeded_signal(Signal::kHangup) == SIGHUP;
              _exit(is_right ? 0 : 1);
            }),
            0);
}

TEST(InteractiveTerminal, WaitsForInputOrCtrlC) {
  const Pipe pipe;
  EXPECT_EQ(status_of([&] {
              dup2(pipe.ends[0], STDIN_FILENO);
              const InteractiveTerminal terminal(std::nullopt);
              using enum InteractiveTerminal::Event;
              static_cast<void>(!write(pipe.ends[1], "x", 1));
              const bool reads = InteractiveTerminal::wait_for_input() == kReadable;
              raise(SIGINT);
              const bool stops = InteractiveTerminal::wait_for_input() == kInterrupt;
              const bool knows = InteractiveTerminal::interrupted();
              InteractiveTerminal::clear_interrupt();
              _exit(reads && stops && knows && !InteractiveTerminal::interrupted() ? 0 : 1);
            }),
            0);
}

}  // namespace
}  // namespace tokamak
