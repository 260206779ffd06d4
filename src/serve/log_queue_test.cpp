#include "serve/log_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace tokamak::serve {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Pipe() {
    for (const int end : ends) close(end);
  }
  /// The text that has been written, up to a line that ends with `last`.
  std::string read_until(std::string_view last) const {
    std::string out;
    std::array<char, 4096> part;
    while (!out.ends_with(last)) {
      const ssize_t count = read(ends[0], part.data(), part.size());
      if (count <= 0) break;
      out.append(part.data(), size_t(count));
    }
    return out;
  }

  std::array<int, 2> ends = {-1, -1};
};

std::string dropped_line(uint64_t count) {
  return fmt::format("{} dropped\n", count);
}

TEST(LogQueue, WritesLinesInTheirOrder) {
  const Pipe pipe;
  {
    LogQueue log(File::borrowed(pipe.ends[1]), dropped_line);
    for (int i = 0; i < 100; ++i) log.write(fmt::format("{}\n", i));
  }
  const std::string text = pipe.read_until("\n99\n");
  EXPECT_TRUE(text.starts_with("0\n1\n2\n")) << text;
}

TEST(LogQueue, DropsLinesWhereNobodyReadsAndCountsThem) {
  const Pipe pipe;
  const std::string line = std::string(999, 'x') + "\n";
  constexpr size_t kLines = 5000;
  LogQueue log(File::borrowed(pipe.ends[1]), dropped_line, /*limit_bytes=*/100'000);
  for (size_t i = 0; i < kLines; ++i) log.write(line);  // more than the pipe and the queue take
  size_t lines = 0;
  for (std::string rest; lines < kLines;) {
    rest += pipe.read_until("\n");
    ASSERT_FALSE(rest.empty());
    for (size_t end = 0; (end = rest.find('\n')) != rest.npos; rest.erase(0, end + 1)) {
      lines += rest.starts_with('x') ? 1 : std::stoul(rest);
    }
  }
  EXPECT_EQ(lines, kLines) << "written or counted";
  log.write("again\n");
  EXPECT_EQ(pipe.read_until("again\n"), "again\n");
}

TEST(LogQueue, EndsWhereNobodyReads) {
  const Pipe pipe;
  LogQueue log(File::borrowed(pipe.ends[1]), dropped_line);
  for (size_t i = 0; i < 200; ++i) log.write(std::string(999, 'x') + "\n");
}

}  // namespace
}  // namespace tokamak::serve
