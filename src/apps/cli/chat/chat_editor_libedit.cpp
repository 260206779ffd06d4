// Lines at a terminal with libedit: editing, history, and pasted text as one line.
#include <histedit.h>
#include <langinfo.h>

#include <clocale>
#include <cstdio>
#include <cwchar>

#include "apps/cli/chat/chat_input.h"
#include "apps/cli/command.h"
#include "base/environment.h"
#include "base/system/interactive_terminal.h"

namespace tokamak::cli {
namespace {

constexpr std::wstring_view kPasteEnd = L"\033[201~";
constexpr int kMaxHistory = 1000;

/// The terminal that shows the prompt and the edited line: not on standard output, which has the
/// answers, unless nothing else is a terminal.
FILE* screen() {
  const std::string kind = environment_variable("TERM");
  if (!stdin_is_terminal() || kind.empty() || kind == "dumb") return nullptr;
  if (stderr_is_terminal()) return stderr;
  return stdout_is_terminal() ? stdout : nullptr;
}

/// libedit reads and shows characters as the locale has them, and chats are in UTF-8 anywhere.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") std::setlocale(LC_CTYPE, "C.UTF-8");
}

class Editor : public LineReader {
 public:
  Editor(FILE* out, const std::vector<std::string>& history) {
    use_utf8();
    editor_ = el_init("tokamak", stdin, out, out);
    history_ = history_init();
    HistEvent event;
    ::history(history_, &event, H_SETSIZE, kMaxHistory);
    ::history(history_, &event, H_SETUNIQUE, 1);
    for (const std::string& message : history) remember(message);
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_GETCFN, next_character);
    el_set(editor_, EL_PROMPT, prompt_of);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_HIST, ::history, history_);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_set(editor_, EL_BIND, "\\e[1;5C", "em-next-word", nullptr);
    el_set(editor_, EL_BIND, "\\e[1;5D", "ed-prev-word", nullptr);
    el_source(editor_, nullptr);  // ~/.editrc, as for other programs
    el_set(editor_, EL_ADDFN, "tokamak-paste", "Insert pasted text.", paste);
    el_set(editor_, EL_BIND, "\\e[200~", "tokamak-paste", nullptr);
    InteractiveTerminal::hide_typing();
  }
  ~Editor() override {
    el_end(editor_);
    history_end(history_);
  }

  Typed read_line(const std::string& prompt) override {
    prompt_ = prompt;
    interrupted_ = false;
    int count = 0;
    const char* line = el_gets(editor_, &count);
    InteractiveTerminal::hide_typing();
    if (interrupted_) {
      pending_.clear();
      note_codes("^C\n\033[J");  // below are the other rows of a long line
      return {Typed::Kind::kInterrupt, std::move(partial_)};
    }
    if (line == nullptr || count <= 0) return {Typed::Kind::kEnd, ""};
    std::string text(line, size_t(count));
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\n')) text.pop_back();  // a paste of whole lines
    return {Typed::Kind::kText, std::move(text)};
  }

  void remember(const std::string& message) override {
    HistEvent event;
    ::history(history_, &event, H_ENTER, message.c_str());
  }

 private:
  static Editor& of(EditLine* editor) {
    void* own = nullptr;
    el_get(editor, EL_CLIENTDATA, &own);
    return *static_cast<Editor*>(own);
  }

  static char* prompt_of(EditLine* editor) { return of(editor).prompt_.data(); }

  /// 1, 0 at the end of input, -1 where the line is to be given up.
  static int next_character(EditLine* editor, wchar_t* out) {
    Editor& own = of(editor);
    for (;;) {
      if (own.take_character(*out)) return 1;
      switch (InteractiveTerminal::wait_for_input()) {
        case InteractiveTerminal::Event::kInterrupt: {
          const LineInfo* line = el_line(editor);
          own.partial_.assign(line->buffer, line->lastchar);
          own.interrupted_ = true;
          return -1;
        }
        case InteractiveTerminal::Event::kRedraw:
          note("\r");
          el_resize(editor);
          el_set(editor, EL_REFRESH);
          break;
        case InteractiveTerminal::Event::kReadable: {
          char buffer[4096];
          const size_t count =
              own.input_.read(std::as_writable_bytes(std::span(buffer))).value_or(0);
          if (count == 0) return 0;
          own.pending_.append(buffer, count);
        }
      }
    }
  }

  /// False where the bytes that have come are not a whole character.
  bool take_character(wchar_t& out) {
    if (pending_.empty()) return false;
    std::mbstate_t state{};
    size_t size = std::mbrtowc(&out, pending_.data(), pending_.size(), &state);
    if (size == size_t(-2)) return false;
    if (size == size_t(-1)) out = L'\uFFFD';
    if (size == size_t(-1) || size == 0) size = 1;
    pending_.erase(0, size);
    return true;
  }

  /// The terminal has announced pasted text, and says where it ends.
  static unsigned char paste(EditLine* editor, int) {
    std::wstring text;
    wchar_t character = 0;
    while (!text.ends_with(kPasteEnd)) {
      const int got = el_wgetc(editor, &character);
      if (got <= 0) return got < 0 ? CC_FATAL : CC_EOF;
      // Terminals send the key Enter for the ends of lines.
      text += character == L'\r' ? L'\n' : character;
    }
    text.resize(text.size() - kPasteEnd.size());
    if (!text.empty() && el_winsertstr(editor, text.c_str()) != 0) return CC_ERROR;
    return CC_REFRESH;
  }

  File input_ = File::standard(StandardStream::kInput);
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_;
  std::string pending_;  // read, but not edited yet
  std::string partial_;  // the line that Ctrl-C gave up
  bool interrupted_ = false;
};

}  // namespace

std::unique_ptr<LineReader> terminal_reader(const std::vector<std::string>& history) {
  FILE* out = screen();
  if (out == nullptr) return nullptr;
  return std::make_unique<Editor>(out, history);
}

std::optional<StandardStream> paste_terminal() {
  FILE* out = screen();
  if (out == nullptr) return std::nullopt;
  return out == stderr ? StandardStream::kError : StandardStream::kOutput;
}

}  // namespace tokamak::cli
