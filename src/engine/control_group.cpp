#include "engine/control_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tokamak {
namespace {

/// Without a limit version 1 says a number near the largest that there is.
constexpr uint64_t kNoLimit = uint64_t{1} << 60;

struct Version {
  std::string_view folder, limit, usage, cache;  // cache: a line of memory.stat
};
constexpr Version kFirst = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                            "total_inactive_file"};
constexpr Version kSecond = {"", "memory.max", "memory.current", "inactive_file"};

/// "max" is no number.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

uint64_t stat_of(const std::string& path, std::string_view name) {
  std::ifstream lines(path);
  uint64_t number = 0;
  for (std::string own; lines >> own >> number;) {
    if (own == name) return number;
  }
  return 0;
}

std::optional<uint64_t> left_in(const std::string& folder, const Version& version) {
  const auto limit = number_in(fmt::format("{}/{}", folder, version.limit));
  const auto usage = number_in(fmt::format("{}/{}", folder, version.usage));
  if (!limit || !usage || *limit >= kNoLimit) return std::nullopt;
  const uint64_t cache = stat_of(folder + "/memory.stat", version.cache);
  const uint64_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

/// The memory that a group and its parents leave; in a container the outermost visible is its own.
std::optional<uint64_t> least_of(std::string group, const std::string& mounted,
                                 const Version& version) {
  std::optional<uint64_t> least;
  for (;;) {
    const auto left = left_in(fmt::format("{}{}{}", mounted, version.folder, group), version);
    if (left) least = std::min(least.value_or(*left), *left);
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

}  // namespace

std::optional<uint64_t> bytes_left_by_groups(const std::string& groups,
                                             const std::string& mounted) {
  std::optional<uint64_t> least;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,memory:/a/b", or "0::/a/b"
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_second = kinds == ",,";
    if (!is_second && kinds.find(",memory,") == kinds.npos) continue;
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    const auto left = least_of(std::move(group), mounted, is_second ? kSecond : kFirst);
    if (left) least = std::min(least.value_or(*left), *left);
  }
  return least;
}

}  // namespace tokamak
