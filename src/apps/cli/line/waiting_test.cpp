#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "apps/cli/line/terminal.h"

namespace tokamak::cli {
namespace {

constexpr auto kUntilALineShows = std::chrono::milliseconds(2500);

/// The lines that `work` shows on a terminal.
template <typename Work>
std::string shown_by(const Work& work) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    work();
    _exit(0);
  }
  std::string shown;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(terminal, buffer, sizeof buffer)) > 0;) {
    shown.append(buffer, size_t(count));
  }
  close(terminal);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return shown;
}

TEST(Waiting, ReportsNothingOfAShortWait) {
  EXPECT_EQ(shown_by([] { const Waiting waiting("working"); }), "");
}

TEST(Waiting, ALineOfItsOwnGoesAgain) {
  const std::string shown = shown_by([] {
    const Waiting waiting("working");
    std::this_thread::sleep_for(kUntilALineShows);
  });
  EXPECT_TRUE(shown.starts_with("\r\033[Kworking ... 1 s")) << shown;
  EXPECT_TRUE(shown.ends_with(" s\r\033[K")) << shown;
}

TEST(Waiting, WhatWasPrintedStaysBeforeIt) {
  const std::string shown = shown_by([] {
    AnswerWaiting waiting(/*compiles=*/true);
    waiting.token();
    EXPECT_TRUE(print("Once"));
    std::this_thread::sleep_for(kUntilALineShows);
    waiting.token();
    EXPECT_TRUE(print(" upon"));
    std::this_thread::sleep_for(kUntilALineShows);
  });
  // The place of the cursor is kept while lines are cut at the edge.
  EXPECT_TRUE(
      shown.starts_with("Once\0337\033[?7l\033[K [compiling the kernels that decode ... 1 s]"
                        "\033[?7h\0338"))
      << shown;
  EXPECT_TRUE(shown.ends_with("\0338\033[K upon")) << "nothing is said of later waits: " << shown;
}

}  // namespace
}  // namespace tokamak::cli
