// A cursor over one text, for the small line-based formats of our own (graph and plan text).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Skips blanks (not line ends).
  void skip_blanks();
  bool at_end() const { return position_ >= text_.size(); }
  /// Skips blanks, empty lines and "# ..." comments.
  void skip_lines();

  /// Takes `literal` if it is next, blanks before it skipped.
  bool take(std::string_view literal);
  Result<void> expect(std::string_view literal);
  /// Skips blanks; whether a line end or the text's end is next.
  bool at_line_end();
  Result<void> expect_line_end();

  /// Letters, digits and any of "_.-/".
  Result<std::string> word();
  /// A word in which "+" may stand too: how numbers are spelled.
  Result<std::string> word_with_sign();
  /// A JSON string.
  Result<std::string> quoted();
  Result<uint64_t> integer();
  Result<uint32_t> integer32();
  Result<float> number();

  /// An error that names the line: counts the lines so far, so no way to look ahead.
  Failure wrong(std::string_view expected) const;

 private:
  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace tokamak
