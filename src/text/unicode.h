// UTF-8 and the Unicode facts that tokenizers ask for: character classes, lower case, normal forms.
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

/// The first character of `text`. REQUIRES: valid UTF-8, not empty.
Utf8Char first_char(std::string_view text);
/// The last character of `text`. REQUIRES: valid UTF-8, not empty.
Utf8Char last_char(std::string_view text);

void append_utf8(std::string& out, char32_t value);
bool is_valid_utf8(std::string_view bytes);
bool is_ascii(std::string_view bytes);

/// `bytes` with every ill-formed part replaced by U+FFFD.
std::string repair_utf8(std::string_view bytes);

/// The same for bytes that arrive in pieces: a character may be cut anywhere.
class Utf8Repair {
 public:
  /// Appends to `out` what is decided now; at most 3 bytes stay behind.
  void push(std::string_view bytes, std::string& out);
  /// Appends U+FFFD when an unfinished character is left.
  void finish(std::string& out);

 private:
  std::string pending_;
};

bool is_whitespace(char32_t c);         // White_Space
bool is_word(char32_t c);               // \w: Alphabetic, M, Nd, Pc, Join_Control
bool is_numeric(char32_t c);            // N
bool is_punctuation(char32_t c);        // P, and all ASCII punctuation
bool is_combining_mark(char32_t c);     // M
bool is_nonspacing_mark(char32_t c);    // Mn
bool is_control_or_format(char32_t c);  // Cc, Cf, Co

/// Character by character, without context: the final sigma is not special.
std::string to_lower(std::string_view text);

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };
std::string to_normal_form(std::string_view text, NormalForm form);

}  // namespace tokamak
