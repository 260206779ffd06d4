#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "apps/cli/command.h"
#include "base/terminal_text.h"

namespace tokamak::cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void on_interrupt(int) {
  if (g_interrupted != 0) _exit(130);
  g_interrupted = 1;
}

}  // namespace

bool interrupted() {
  return g_interrupted != 0;
}
void clear_interrupt() {
  g_interrupted = 0;
}

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of print()
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
    if (written < 0) return invalid_input("Writing the output failed: {}.", std::strerror(errno));
    text.remove_prefix(size_t(written));
  }
  return {};
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
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(size_t(written));
  }
}

Result<bool> agreed(const std::string& question) {
  if (!stdin_is_terminal()) {
    return fail(ErrorCode::kUsage, "Nobody is there to ask whether to {}; --yes says so.",
                question);
  }
  note(fmt::format("{}? [y/N] ", question));
  std::string line;
  char c = 0;
  while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n') line += c;
  return line == "y" || line == "Y" || line == "yes";
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

Result<std::vector<uint32_t>> parse_ids(const std::string& text) {
  std::string list = text;
  if (text.starts_with('@')) {
    TOK_TRY(list, read_text_file(text.substr(1), uint64_t{64} << 20));
  } else {
    list = "[" + text + "]";
  }
  auto json = Json::parse(list);
  constexpr const char* kExpected = "expected token ids as 1,2,3 or @file with a JSON array";
  if (!json || !json->is_array()) {
    return fail(ErrorCode::kUsage, "--tokens is \"{}\", {}.", text, kExpected);
  }
  std::vector<uint32_t> ids;
  for (const Json& item : json->as_array()) {
    if (!item.is_integer() || item.as_integer() < 0 || item.as_integer() > UINT32_MAX) {
      return fail(ErrorCode::kUsage, "--tokens has the entry {}, {}.", item.dump(), kExpected);
    }
    ids.push_back(uint32_t(item.as_integer()));
  }
  return ids;
}

Json to_json(std::span<const uint32_t> ids) {
  Json::Array list;
  for (const uint32_t id : ids) list.emplace_back(id);
  return list;
}

Json to_json(std::span<const float> values) {
  Json::Array list;
  for (const float value : values) list.emplace_back(double(value));
  return list;
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kInvalidInput:
      return 3;
    case ErrorCode::kUnsupported:
      return 4;
    case ErrorCode::kDevice:
    case ErrorCode::kDeviceLost:
    case ErrorCode::kOutOfMemory:
      return 5;
    case ErrorCode::kCancelled:
      return 130;
  }
  return 70;
}

}  // namespace tokamak::cli
