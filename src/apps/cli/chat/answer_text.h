// AnswerText: an answer on standard output. On a terminal lines end at spaces, and reasoning is
// dimmed; a pipe gets the bytes as they are.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak::cli {

/// Text that comes in pieces, broken at spaces where it would reach the edge of a terminal: a word
/// that turns out to be too long is taken back to the next line.
class WordWrap {
 public:
  /// `columns`: of the terminal; 0: nothing is broken.
  explicit WordWrap(size_t columns) : columns_(columns) {}
  /// `text` with what a terminal needs to show it so. REQUIRES: whole characters, of which none
  /// moves the cursor but line ends and tabs.
  std::string push(std::string_view text);

 private:
  void add(std::string_view character, std::string& out);
  void end_line(std::string& out);

  size_t columns_;
  size_t used_ = 0;   // columns of the line
  std::string word_;  // the end of the line from its last space on
  size_t word_columns_ = 0;
};

class AnswerText {
 public:
  /// `shows_reasoning`: dimmed on a terminal, else between <think> and </think>.
  explicit AnswerText(bool shows_reasoning);

  /// Errors stay: status().
  void show(bool is_reasoning, std::string_view text);
  /// Puts a line end after what there is.
  void end();
  const Result<void>& status() const { return status_; }

 private:
  void begin_reasoning();
  void end_reasoning();
  void put(std::string_view text);

  bool shows_reasoning_, is_terminal_, has_codes_;
  WordWrap wrap_;
  bool is_in_reasoning_ = false;
  Result<void> status_;
};

}  // namespace tokamak::cli
