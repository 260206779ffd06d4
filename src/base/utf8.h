// UTF-8: whether bytes are valid, how they are made so, and their characters one by one.
//
// "Valid UTF-8" is what the Unicode standard calls well-formed: no surrogates, no overlong forms,
// nothing above U+10FFFF. Bytes that are not valid become U+FFFD, one for each maximal subpart of
// an ill-formed sequence (Unicode 15, section 3.9), as the reference tokenizers do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tokamak {

inline constexpr char32_t kReplacementChar = 0xFFFD;

struct Utf8Char {
  char32_t value;
  uint32_t bytes;
};

/// The first character of `text`; where it does not begin with one, U+FFFD and the bytes of the
/// ill-formed part, so that a walk through any bytes stays inside them. REQUIRES: not empty.
Utf8Char first_char(std::string_view text);
/// The last character of `text`; where it does not end with one, U+FFFD and the bytes of a cut
/// character, else one byte. REQUIRES: not empty.
Utf8Char last_char(std::string_view text);

void append_utf8(std::string& out, char32_t value);
bool is_valid_utf8(std::string_view bytes);
/// The longest beginning of `text` of at most `bytes` bytes that does not end within a character.
std::string_view utf8_prefix(std::string_view text, size_t bytes);
bool is_ascii(std::string_view bytes);

/// `bytes` with every ill-formed part replaced by U+FFFD.
std::string repair_utf8(std::string_view bytes);

/// The same for bytes that arrive in pieces: a character may be cut anywhere.
class Utf8Repair {
 public:
  /// Appends to `out` what is decided now; at most 3 bytes remain.
  void push(std::string_view bytes, std::string& out);
  /// Appends U+FFFD when an unfinished character is left.
  void finish(std::string& out);

 private:
  std::string pending_;
};

}  // namespace tokamak
