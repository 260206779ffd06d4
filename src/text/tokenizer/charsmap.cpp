#include "text/tokenizer/charsmap.h"

#include <cstring>

#include "base/utf8.h"
#include "text/unicode/clusters.h"

namespace tokamak {
namespace {

constexpr size_t kMaxClusterBytes = 5;  // longer ones are not looked up as a whole

uint32_t offset_of(uint32_t unit) {
  return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

}  // namespace

Result<CharsMap> CharsMap::parse(std::string_view bytes) {
  CharsMap map;
  uint32_t length = 0;
  if (bytes.size() >= sizeof length) std::memcpy(&length, bytes.data(), sizeof length);
  if (length % sizeof(uint32_t) != 0 || bytes.size() < sizeof length + uint64_t{length}) {
    return invalid_input("The precompiled_charsmap has {} bytes, of which its trie would be {}.",
                         bytes.size(), length);
  }
  bytes.remove_prefix(sizeof length);
  map.units_.resize(length / sizeof(uint32_t));
  if (length != 0) std::memcpy(map.units_.data(), bytes.data(), length);
  map.replacements_ = bytes.substr(length);
  return map;
}

std::optional<std::string_view> CharsMap::find(std::string_view part) const {
  if (units_.empty()) return std::nullopt;
  uint32_t at = offset_of(units_[0]);
  for (const char c : part) {
    const uint32_t label = uint8_t(c);
    at ^= label;
    if (label == 0 || at >= units_.size()) break;
    const uint32_t unit = units_[at];
    if ((unit & 0x800000ff) != label) break;
    at ^= offset_of(unit);
    if ((unit >> 8 & 1) == 0) continue;
    const uint32_t value = at < units_.size() ? units_[at] & 0x7fffffff : UINT32_MAX;
    if (value >= replacements_.size()) break;
    const size_t length = replacements_.find('\0', value) - value;
    const std::string_view replacement = std::string_view(replacements_).substr(value, length);
    if (!is_valid_utf8(replacement)) break;
    return replacement;
  }
  return std::nullopt;
}

std::string CharsMap::apply(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::string_view cluster = text.substr(0, first_cluster(text));
    text.remove_prefix(cluster.size());
    if (cluster.size() <= kMaxClusterBytes) {
      if (const auto whole = find(cluster)) {
        out += *whole;
        continue;
      }
    }
    while (!cluster.empty()) {
      const std::string_view part = cluster.substr(0, first_char(cluster).bytes);
      out += find(part).value_or(part);
      cluster.remove_prefix(part.size());
    }
  }
  return out;
}

}  // namespace tokamak
