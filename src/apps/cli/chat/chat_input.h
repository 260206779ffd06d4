// The input of a person in a chat: lines, messages of several lines, and those of earlier chats.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/file.h"

namespace tokamak::cli {

struct Typed {
  /// kInterrupt: Ctrl-C; the text is what the line was until then. kEnd: nothing more will come.
  /// kFailure: standard input cannot be read; the text says why.
  enum class Kind : uint8_t { kText, kInterrupt, kEnd, kFailure } kind = Kind::kText;
  std::string text;
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  /// One line without its end. What was pasted at once counts as one, its line ends included, where
  /// the reader can tell.
  virtual Typed read_line(const std::string& prompt) = 0;
  /// Keeps a message that the person may want to have again.
  virtual void remember(const std::string& message) = 0;
};

/// The input of a person at a terminal; null where there is none. One of chat_editor_*.cpp, as
/// CMake chose. `history`: messages of earlier chats, the oldest first.
std::unique_ptr<LineReader> terminal_reader(const std::vector<std::string>& history);
/// The terminal that is to mark pasted text for that reader, if any.
std::optional<StandardStream> paste_terminal();

/// Reads standard input as it is, without prompts.
std::unique_ptr<LineReader> plain_reader();

/// A line, or several: from """ to """, and on after a \ at the end of a line.
Typed read_message(LineReader& reader);

/// The messages of earlier chats, kept in a file that only this user reads. `path`: "" for none.
std::string history_path();
std::vector<std::string> load_history(const std::string& path);
/// A history that cannot be kept is no reason to stop.
void append_to_history(const std::string& path, const std::string& message);

}  // namespace tokamak::cli
