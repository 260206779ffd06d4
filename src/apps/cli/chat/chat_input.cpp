#include "apps/cli/chat/chat_input.h"

#include <filesystem>

#include "apps/cli/line/input.h"
#include "base/json.h"
#include "base/system/file.h"
#include "base/system/folders.h"
#include "base/system/interactive_terminal.h"
#include "base/system/path_text.h"
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
      if (InteractiveTerminal::wait_for_input() == InteractiveTerminal::Event::kInterrupt) {
        searched_ = 0;
        return {Typed::Kind::kInterrupt, std::exchange(pending_, {})};
      }
      char buffer[65536];
      const auto count = input_.read(std::as_writable_bytes(std::span(buffer)));
      if (!count) {
        return {Typed::Kind::kFailure,
                fmt::format("Reading standard input failed: {}.", count.error().message)};
      }
      if (*count > 0) {
        pending_.append(buffer, *count);
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
  File input_ = File::standard(StandardStream::kInput);
  std::string pending_;
  size_t searched_ = 0;  // bytes of it without a line end
};

/// Writes text where nobody else reads it. Errors as File's.
Result<void> write_private(const std::string& path, FileMode mode, std::string_view text) {
  TOK_TRY(File file, File::open(path, mode, {.is_private = true}));
  TOK_TRY(file.make_private());
  return file.write(text);
}

/// Those lines as the whole file.
void write_history(const std::string& path, const std::vector<std::string>& messages) {
  const std::string beside = path + ".new";
  std::string text;
  for (const std::string& message : messages) text += Json(message).dump() + "\n";
  std::error_code failed;
  if (write_private(beside, FileMode::kReplace, text)) {
    std::filesystem::rename(path_of(beside), path_of(path), failed);
    if (!failed) return;
  }
  std::filesystem::remove(path_of(beside), failed);
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
  const auto continues = [&] { return quoted ? !text.ends_with(kQuotes) : text.ends_with('\\'); };
  while (continues()) {
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
  std::filesystem::create_directories(path_of(path).parent_path(), ignored);
  static_cast<void>(write_private(path, FileMode::kAppend, Json(message).dump() + "\n"));
}

}  // namespace tokamak::cli
