// The terminal of a chat: Ctrl-C sets a flag instead of ending the program, and what is typed while
// nobody reads a line is kept for the next one without showing in the answer.
#pragma once
#include <cstdint>

namespace tokamak::cli {

class ChatTerminal {
 public:
  /// From here on Ctrl-C only sets the flag. Where standard input is a terminal, it no longer shows
  /// what is typed; it does again when this ends, by whatever signal, and while the program is
  /// stopped by Ctrl-Z. `paste_fd`: the terminal that is to mark pasted text, or -1.
  /// REQUIRES: there is no other one.
  explicit ChatTerminal(int paste_fd);
  ChatTerminal(const ChatTerminal&) = delete;
  ChatTerminal& operator=(const ChatTerminal&) = delete;
  ~ChatTerminal();

  static bool interrupted();
  static void clear_interrupt();

  /// Shows nothing that is typed; for after a line editor has put the terminal back.
  static void hide_typing();
  /// Restores the mode before this object: whole lines, shown by the terminal itself.
  static void show_typing();

  /// kRedraw: the window has another size, or the program goes on after Ctrl-Z.
  enum class Event : uint8_t { kReadable, kInterrupt, kRedraw };
  /// Waits until there is something to read from standard input, its end included.
  static Event wait_for_input();
};

}  // namespace tokamak::cli
