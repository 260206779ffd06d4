#include "base/wrap.h"

#include <algorithm>

#include "base/utf8.h"

namespace tokamak {
namespace {

/// The byte at which the character of that number begins.
size_t byte_of(std::string_view text, size_t character) {
  size_t at = 0;
  for (; character > 0 && at < text.size(); --character) at += first_char(text.substr(at)).bytes;
  return at;
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (; !text.empty(); ++columns) text.remove_prefix(first_char(text).bytes);
  return columns;
}

std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines(1);
  size_t used = 0;
  for (bool first = true; !text.empty(); first = false) {
    const std::string_view word = text.substr(0, text.find(' '));
    const size_t width = columns_of(word);
    if (!first && used + 1 + width > columns) {
      lines.emplace_back(word);
      used = width;
    } else {
      lines.back() += first ? "" : " ";
      lines.back() += word;
      used += width + (first ? 0 : 1);
    }
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return lines;
}

std::string shortened(std::string_view word, size_t columns) {
  constexpr std::string_view kLeftOut = "...";
  const size_t width = columns_of(word);
  if (width <= columns) return std::string(word);
  const size_t kept = columns - kLeftOut.size(), front = (kept + 1) / 2;
  std::string out(word.substr(0, byte_of(word, front)));
  out += kLeftOut;
  return out += word.substr(byte_of(word, width - (kept - front)));
}

}  // namespace tokamak
