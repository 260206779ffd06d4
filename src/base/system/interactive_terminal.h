// The terminal of a conversation: Ctrl-C sets a flag instead of ending the program, and what is
// typed while nobody reads a line is kept for the next one without showing in the answer. Native
// builds only.
#pragma once
#include <cstdint>
#include <optional>

#include "base/system/file.h"

namespace tokamak {

class InteractiveTerminal {
 public:
  /// From here on Ctrl-C only sets the flag. Where standard input is a terminal, it no longer shows
  /// what is typed; it does again when this ends, by whatever signal, and while the program is
  /// stopped by Ctrl-Z. `pastes`: the terminal that is to mark pasted text.
  /// REQUIRES: there is no other one.
  explicit InteractiveTerminal(std::optional<StandardStream> pastes);
  InteractiveTerminal(const InteractiveTerminal&) = delete;
  InteractiveTerminal& operator=(const InteractiveTerminal&) = delete;
  ~InteractiveTerminal();

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

}  // namespace tokamak
