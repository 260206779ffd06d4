#include "apps/cli/chat/answer_text.h"

#include <fmt/format.h>

#include "apps/cli/line/terminal.h"
#include "base/environment.h"
#include "base/terminal_text.h"
#include "base/utf8.h"

namespace tokamak::cli {
namespace {

constexpr const char* kDim = "\033[2m";
constexpr const char* kPlain = "\033[0m";
constexpr size_t kTab = 8;

struct Range32 {
  char32_t first, last;
};

/// Scripts without spaces and pictures: two columns, and a line may end after each of them.
constexpr Range32 kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                             {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                             {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                             {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
/// Marks on the character before them.
constexpr Range32 kNarrow[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};

template <size_t kCount>
bool is_in(const Range32 (&ranges)[kCount], char32_t value) {
  for (const Range32& range : ranges) {
    if (value >= range.first && value <= range.last) return true;
  }
  return false;
}

bool knows_codes() {
  const std::string kind = environment_variable("TERM");
  return stdout_is_terminal() && !kind.empty() && kind != "dumb";
}

}  // namespace

void WordWrap::end_line(std::string& out) {
  out += '\n';
  used_ = 0;
  word_.clear();
  word_columns_ = 0;
}

void WordWrap::add(std::string_view character, std::string& out) {
  if (character == "\n") return end_line(out);
  const char32_t value = first_char(character).value;
  const bool is_wide = is_in(kWide, value);
  const size_t width = is_wide ? 2 : is_in(kNarrow, value) ? 0 : 1;
  // The last column stays free: at it terminals differ in where the cursor is.
  const size_t most = columns_ - 1;
  if (character == " " || character == "\t") {
    const size_t space = character == " " ? 1 : kTab - used_ % kTab;
    word_.clear();
    word_columns_ = 0;
    if (used_ + space > most) return end_line(out);
    used_ += space;
    out += character;
    return;
  }
  if (used_ + width > most) {
    const bool is_word = word_columns_ > 0 && word_columns_ < used_ && !is_wide;
    const std::string word = is_word ? word_ : "";
    const size_t columns = is_word ? word_columns_ : 0;
    if (is_word) out += fmt::format("\033[{}D\033[K", columns);
    end_line(out);
    out += word;
    word_ = word;
    used_ = word_columns_ = columns;
  }
  out += character;
  used_ += width;
  if (is_wide) {
    word_.clear();
    word_columns_ = 0;
  } else {
    word_ += character;
    word_columns_ += width;
  }
}

std::string WordWrap::push(std::string_view text) {
  if (columns_ < 2) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, first_char(text).bytes);
    text.remove_prefix(character.size());
    add(character, out);
  }
  return out;
}

AnswerText::AnswerText(bool shows_reasoning)
    : shows_reasoning_(shows_reasoning),
      is_terminal_(stdout_is_terminal()),
      has_codes_(knows_codes()),
      wrap_(has_codes_ ? terminal_columns() : 0) {}

void AnswerText::show(bool is_reasoning, std::string_view text) {
  if (text.empty() || (is_reasoning && !shows_reasoning_)) return;
  if (is_reasoning && !is_in_reasoning_) begin_reasoning();
  if (!is_reasoning && is_in_reasoning_) end_reasoning();
  put(text);
}

void AnswerText::end() {
  if (is_in_reasoning_) end_reasoning();
  put("\n");
}

void AnswerText::begin_reasoning() {
  is_in_reasoning_ = true;
  put(is_terminal_ ? "Thinking...\n" : "<think>\n");
}

void AnswerText::end_reasoning() {
  put(is_terminal_ ? "\n...done thinking." : "\n</think>");
  is_in_reasoning_ = false;
  put("\n\n");
}

void AnswerText::put(std::string_view text) {
  if (!status_ || text.empty()) return;
  if (!has_codes_) {
    status_ = print(text);
    return;
  }
  // Whatever ends the program, the terminal is as it was.
  const std::string shown = wrap_.push(terminal_text(text));
  status_ = print_codes(is_in_reasoning_ ? kDim + shown + kPlain : shown);
}

}  // namespace tokamak::cli
