// Numbers as options and lines spell them.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>

namespace tokamak::cli {

/// The number that `text` is as a whole; nothing for another text.
template <typename T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto read = std::from_chars(begin, end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace tokamak::cli
