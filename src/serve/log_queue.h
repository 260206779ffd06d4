// LogQueue: lines on their way to a file, which may be a pipe that nobody reads. Who writes a line
// never waits: lines beyond a limit are dropped, and their number is written in their place.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/system/file.h"

namespace tokamak::serve {

class LogQueue {
 public:
  /// `dropped_line` makes the line that stands for a number of lost ones.
  LogQueue(File output, std::function<std::string(uint64_t)> dropped_line,
           size_t limit_bytes = size_t{1} << 20);
  LogQueue(const LogQueue&) = delete;
  LogQueue& operator=(const LogQueue&) = delete;
  /// Writes what the file takes within a second.
  ~LogQueue();

  /// `line` with its line end. Any thread may call it.
  void write(std::string_view line);

 private:
  void run();
  /// Writes all of `text`; gives up where the file is broken, or takes nothing while the
  /// queue ends.
  void send(std::string_view text);

  File output_;
  const std::function<std::string(uint64_t)> dropped_line_;
  const size_t limit_bytes_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::string waiting_;
  uint64_t dropped_ = 0;
  bool ends_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace tokamak::serve
