#include "apps/cli/chat_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "apps/cli/chat_terminal.h"
#include "apps/cli/input.h"
#include "base/environment.h"
#include "base/json.h"
#include "engine/engine.h"

namespace tokamak::cli {
namespace {

constexpr size_t kMaxHistory = 1000;
constexpr uint64_t kMaxHistoryBytes = uint64_t{64} << 20;
constexpr std::string_view kQuotes = "\"\"\"";

class PlainReader : public LineReader {
 public:
  Typed read_line(const std::string&) override {
    for (;;) {
      if (const size_t end = pending_.find('\n', searched_); end != std::string::npos) {
        std::string line = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        searched_ = 0;
        if (line.ends_with('\r')) line.pop_back();
        return {Typed::Kind::kText, std::move(line)};
      }
      searched_ = pending_.size();
      if (ChatTerminal::wait_for_input() == ChatTerminal::Event::kInterrupt) {
        searched_ = 0;
        return {Typed::Kind::kInterrupt, std::exchange(pending_, {})};
      }
      char buffer[65536];
      const ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        return {Typed::Kind::kFailure,
                fmt::format("Reading standard input failed: {}.", std::strerror(errno))};
      }
      if (count > 0) {
        pending_.append(buffer, size_t(count));
        if (pending_.size() > kMaxTextBytes) {
          return {Typed::Kind::kFailure, "A line of standard input has more than 64 MiB."};
        }
      } else if (pending_.empty()) {
        return {Typed::Kind::kEnd, ""};
      } else {
        searched_ = 0;
        return {Typed::Kind::kText, std::exchange(pending_, {})};
      }
    }
  }
  void remember(const std::string&) override {}

 private:
  std::string pending_;
  size_t searched_ = 0;  // bytes of it without a line end
};

/// Those lines as the whole file.
void write_history(const std::string& path, const std::vector<std::string>& messages) {
  const std::string beside = path + ".new";
  const int file = open(beside.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  std::string text;
  for (const std::string& message : messages) text += Json(message).dump() + "\n";
  const bool whole =
      fchmod(file, 0600) == 0 && write(file, text.data(), text.size()) == ssize_t(text.size());
  close(file);
  if (!whole || std::rename(beside.c_str(), path.c_str()) != 0) unlink(beside.c_str());
}

}  // namespace

std::unique_ptr<LineReader> plain_reader() {
  return std::make_unique<PlainReader>();
}

Typed read_message(LineReader& reader) {
  Typed typed = reader.read_line("> ");
  if (typed.kind != Typed::Kind::kText) return typed;
  std::string& text = typed.text;
  const bool quoted = text.starts_with(kQuotes);
  if (quoted) text.erase(0, kQuotes.size());
  const auto goes_on = [&] { return quoted ? !text.ends_with(kQuotes) : text.ends_with('\\'); };
  while (goes_on()) {
    if (!quoted) text.pop_back();
    const Typed more = reader.read_line("... ");
    if (more.kind == Typed::Kind::kEnd) return typed;
    if (more.kind != Typed::Kind::kText) return more;
    text += "\n" + more.text;
    if (text.size() > kMaxTextBytes) {
      return {Typed::Kind::kFailure, "A message of standard input has more than 64 MiB."};
    }
  }
  if (!quoted) return typed;
  text.resize(text.size() - kQuotes.size());
  if (text.starts_with('\n')) text.erase(0, 1);
  if (text.ends_with('\n')) text.pop_back();
  return typed;
}

std::string history_path() {
  const std::string folder = cache_folder("chat");
  return folder.empty() ? "" : folder + "/history";
}

std::vector<std::string> load_history(const std::string& path) {
  std::vector<std::string> messages;
  if (path.empty() || !file_exists(path)) return messages;
  const auto text = read_text_file(path, kMaxHistoryBytes);
  if (!text) return messages;
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    const auto message = Json::parse(std::string_view(*text).substr(at, end - at));
    if (message && message->is_string()) messages.push_back(message->as_string());
    at = end + 1;
  }
  // Not at each message: other chats may be adding to it.
  const size_t more = messages.size() > kMaxHistory ? messages.size() - kMaxHistory : 0;
  messages.erase(messages.begin(), messages.begin() + std::ptrdiff_t(more));
  if (more > kMaxHistory) write_history(path, messages);
  return messages;
}

void append_to_history(const std::string& path, const std::string& message) {
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const int file = open(path.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = Json(message).dump() + "\n";
  if (fchmod(file, 0600) == 0) {
    [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  }
  close(file);
}

}  // namespace tokamak::cli
