#include "apps/cli/line/input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "apps/cli/line/terminal.h"
#include "base/utf8.h"
#include "formats/native_files.h"

namespace tokamak::cli {
namespace {

constexpr const char* kStdin = "Standard input";
constexpr size_t kPiece = 65536;

bool is_stdin(const std::string& path) {
  return path.empty() || path == "-";
}

/// "64 MiB", "2 GiB"
std::string limit_text(uint64_t bytes) {
  const bool is_gib = bytes % (uint64_t{1} << 30) == 0;
  return fmt::format("{} {}", bytes >> (is_gib ? 30 : 20), is_gib ? "GiB" : "MiB");
}

Failure reading_failed(const std::string& name, std::string_view reason) {
  if (name == kStdin) return invalid_input("Reading standard input failed: {}.", reason);
  return invalid_input("{}: Reading the file failed: {}.", name, reason);
}

/// Appends what there is to `out`; 0 bytes are the end.
Result<size_t> read_piece(File& file, const std::string& name, std::string& out) {
  char buffer[kPiece];
  const auto count = file.read(std::as_writable_bytes(std::span(buffer)));
  if (!count) return reading_failed(name, count.error().message);
  out.append(buffer, *count);
  return *count;
}

Result<std::string> read_all(File file, const std::string& name, uint64_t max_bytes) {
  std::string text;
  for (;;) {
    TOK_TRY(const size_t count, read_piece(file, name, text));
    if (count == 0) return text;
    if (text.size() <= max_bytes) continue;
    if (name == kStdin) return invalid_input("{} has more than {}.", name, limit_text(max_bytes));
    return invalid_input("{}: The file has more than {}.", name, limit_text(max_bytes));
  }
}

/// "standard input", within a sentence
std::string_view named(std::string_view name) {
  return name == kStdin ? "standard input" : name;
}

Failure not_utf8(uint64_t line, std::string_view name) {
  return invalid_input("Line {} of {} is not UTF-8.", line, named(name));
}

Result<File> open_input(const std::string& path) {
  auto file = File::open(path, FileMode::kStream);
  if (file) return file;
  return invalid_input("{}: Cannot open the file: {}.", path, file.error().message);
}

}  // namespace

bool is_stream(const std::string& path) {
  const auto state = file_state(path);
  return state && state->kind == FileKind::kOther;
}

Result<void> check_stdin() {
  if (was_closed(StandardStream::kInput)) return reading_failed(kStdin, std::strerror(EBADF));
  return {};
}

Result<std::string> read_stdin(uint64_t max_bytes) {
  TOK_TRY(check_stdin());
  return read_all(File::standard(StandardStream::kInput), kStdin, max_bytes);
}

Result<std::string> read_input(const std::string& path, uint64_t max_bytes) {
  if (is_stdin(path)) return read_stdin(max_bytes);
  if (!is_stream(path)) return read_text_file(path, max_bytes);
  TOK_TRY(File file, open_input(path));
  return read_all(std::move(file), path, max_bytes);
}

Result<std::string> read_text(const std::string& path) {
  TOK_TRY(std::string text, read_input(path));
  if (is_valid_utf8(text)) return text;
  size_t line = 1;
  for (const std::string_view one : lines_of(text)) {
    if (!is_valid_utf8(one)) break;
    ++line;
  }
  return not_utf8(line, is_stdin(path) ? kStdin : path);
}

Result<InputLines> InputLines::open(const std::string& path) {
  if (is_stdin(path)) {
    TOK_TRY(check_stdin());
    return InputLines(File::standard(StandardStream::kInput), kStdin);
  }
  if (is_directory(path)) {
    return invalid_input("{}: Expected a file but found a directory.", path);
  }
  TOK_TRY(File file, open_input(path));
  return InputLines(std::move(file), path);
}

Result<std::optional<std::string>> InputLines::next() {
  size_t searched = begin_;
  for (;;) {
    const size_t end = pending_.find('\n', searched);
    if (end != pending_.npos || (has_ended_ && begin_ < pending_.size())) {
      ++lines_;
      std::string line = pending_.substr(begin_, end == pending_.npos ? end : end - begin_);
      begin_ = std::min(end == pending_.npos ? end : end + 1, pending_.size());
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (has_ended_) return std::nullopt;
    pending_.erase(0, std::exchange(begin_, 0));
    searched = pending_.size();
    if (searched > kMaxTextBytes) {
      ++lines_;
      return invalid_input("{} has more than {}.", where(), limit_text(kMaxTextBytes));
    }
    TOK_TRY(const size_t count, read_piece(file_, name_, pending_));
    has_ended_ = count == 0;
  }
}

Result<void> InputLines::check_utf8(std::string_view line) const {
  if (is_valid_utf8(line)) return {};
  return not_utf8(lines_, name_);
}

std::string InputLines::where() const {
  return fmt::format("line {} of {}", lines_, named(name_));
}

std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
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

}  // namespace tokamak::cli
