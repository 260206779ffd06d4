// Standard input and the files that options name: read with a limit, whatever kind they are.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/system/file.h"

namespace tokamak::cli {

inline constexpr uint64_t kMaxTextBytes = uint64_t{64} << 20;
inline constexpr uint64_t kMaxSoundBytes = uint64_t{2} << 30;

/// Errors: standard input was closed when the program started.
Result<void> check_stdin();
/// The whole of standard input; an error as soon as it shows that there is more than `max_bytes`.
Result<std::string> read_stdin(uint64_t max_bytes = kMaxTextBytes);
/// A pipe, a socket or a device: it has no size before its end has come, and is not mapped.
bool is_stream(const std::string& path);
/// The whole of a file that an option names: "-" is standard input, and a pipe, a socket or a
/// device is read to its end. Errors name it.
Result<std::string> read_input(const std::string& path, uint64_t max_bytes = kMaxTextBytes);
/// The same of a text; an error names the line that is not UTF-8.
Result<std::string> read_text(const std::string& path);

/// Lines, one after the other, of standard input or of a file as read_input() takes it: memory for
/// one of them is enough.
class InputLines {
 public:
  /// `path`: "" and "-" are standard input.
  static Result<InputLines> open(const std::string& path);
  /// Without its end; nothing after the last one.
  Result<std::optional<std::string>> next();
  /// Errors: the line that next() gave last is not UTF-8.
  Result<void> check_utf8(std::string_view line) const;
  /// "line 3 of standard input": the one that next() gave last.
  std::string where() const;
  /// "Standard input" or the path: for messages about all of it.
  const std::string& name() const { return name_; }

 private:
  InputLines(File file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  File file_;
  std::string name_, pending_;
  size_t begin_ = 0;  // of the next line in `pending_`
  uint64_t lines_ = 0;
  bool has_ended_ = false;
};

/// A text without the line end that editors and echo put at its end.
std::string without_line_end(std::string text);
/// Lines of a text, without their ends; no empty one after the last line end.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace tokamak::cli
