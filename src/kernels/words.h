// The words of WGSL texts: names, keywords and numbers.
#pragma once
#include <algorithm>
#include <cctype>
#include <string_view>

namespace tokamak {

inline bool is_word_letter(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Calls visit(text, is_word) for each word of a text and for what is between them.
void split_words(std::string_view text, auto&& visit) {
  while (!text.empty()) {
    const bool is_word = is_word_letter(text.front());
    const auto end =
        std::ranges::find_if(text, [&](char c) { return is_word_letter(c) != is_word; }) -
        text.begin();
    visit(text.substr(0, size_t(end)), is_word);
    text.remove_prefix(size_t(end));
  }
}

}  // namespace tokamak
