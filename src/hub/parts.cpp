#include "hub/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace tokamak::hub {
namespace {

constexpr std::string_view kHead = "tokamak-parts 1 ";
constexpr size_t kDigits = 20;
constexpr size_t kHeadBytes = kHead.size() + 2 * (kDigits + 1), kLineBytes = kDigits + 1;

/// `kDigits` digits and one `end`, taken off the front of `text`.
std::optional<uint64_t> take_number(std::string_view& text, char end) {
  uint64_t value = 0;
  if (text.size() <= kDigits || text[kDigits] != end) return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + kDigits, value);
  if (error != std::errc() || stop != text.data() + kDigits) return std::nullopt;
  text.remove_prefix(kDigits + 1);
  return value;
}

}  // namespace

uint64_t Parts::end(size_t part) const {
  return std::min(size, begin(part) + part_bytes);
}

uint64_t Parts::total_done() const {
  return std::accumulate(done.begin(), done.end(), uint64_t{0});
}

Parts new_parts(uint64_t size, uint64_t part_bytes) {
  const uint64_t count = size / part_bytes + (size % part_bytes != 0 ? 1 : 0);
  return {.size = size, .part_bytes = part_bytes, .done = std::vector<uint64_t>(size_t(count))};
}

std::string format_count(uint64_t count) {
  return fmt::format("{:020}\n", count);
}

size_t count_offset(size_t part) {
  return kHeadBytes + part * kLineBytes;
}

std::string format_parts(const Parts& parts) {
  std::string text = fmt::format("{}{:020} {:020}\n", kHead, parts.size, parts.part_bytes);
  for (const uint64_t count : parts.done) text += format_count(count);
  return text;
}

std::optional<Parts> parse_parts(std::string_view text, uint64_t size) {
  if (!text.starts_with(kHead)) return std::nullopt;
  text.remove_prefix(kHead.size());
  const auto stated = take_number(text, ' ');
  const auto part_bytes = take_number(text, '\n');
  if (stated != size || !part_bytes || *part_bytes == 0) return std::nullopt;
  Parts parts{.size = size, .part_bytes = *part_bytes, .done = {}};
  const uint64_t count = size / *part_bytes + (size % *part_bytes != 0 ? 1 : 0);
  if (text.size() % kLineBytes != 0 || text.size() / kLineBytes != count) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    const auto done = take_number(text, '\n');
    if (!done || *done > parts.end(i) - parts.begin(i)) return std::nullopt;
    parts.done.push_back(*done);
  }
  return parts;
}

}  // namespace tokamak::hub
