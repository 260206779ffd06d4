#include "apps/cli/serve/serve_log.h"

#include <chrono>

#include "apps/cli/line/terminal.h"
#include "serve/log_queue.h"

namespace tokamak::cli {
namespace {

double unix_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace

std::function<void(const serve::Answered&)> start_log(serve::LogFormat format) {
  const auto message = [format](std::string_view text) {
    // Progress, which only a terminal gets, is no message.
    const bool is_progress = text.starts_with('\r');
    if (is_progress && format == serve::LogFormat::kJson) return std::string();
    return serve::message_line(text, format, unix_time());
  };
  // Until the end of the program: its last word may be an error.
  static serve::LogQueue queue(File::standard(StandardStream::kError), [message](uint64_t lines) {
    return message(
        fmt::format("warning: {} lines of the log are missing here: standard error was "
                    "not read in time.\n",
                    lines));
  });
  redirect_notes([message](std::string_view text) { queue.write(message(text)); });
  return [format](const serve::Answered& answered) {
    queue.write(serve::log_line(answered, format, unix_time()));
  };
}

}  // namespace tokamak::cli
