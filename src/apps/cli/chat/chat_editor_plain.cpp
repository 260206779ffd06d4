// Lines at a terminal without a library for editing: what the terminal itself offers.
#include "apps/cli/chat/chat_input.h"
#include "apps/cli/command.h"
#include "base/system/interactive_terminal.h"

namespace tokamak::cli {
namespace {

class TerminalLines : public LineReader {
 public:
  Typed read_line(const std::string& prompt) override {
    note(prompt);
    InteractiveTerminal::show_typing();
    Typed typed = lines_->read_line(prompt);
    InteractiveTerminal::hide_typing();
    return typed;
  }
  void remember(const std::string&) override {}

 private:
  std::unique_ptr<LineReader> lines_ = plain_reader();
};

}  // namespace

std::unique_ptr<LineReader> terminal_reader(const std::vector<std::string>&) {
  if (!stdin_is_terminal() || !stderr_is_terminal()) return nullptr;
  return std::make_unique<TerminalLines>();
}

std::optional<StandardStream> paste_terminal() {
  return std::nullopt;
}

}  // namespace tokamak::cli
