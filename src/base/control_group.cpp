#include "base/control_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tokamak {
namespace {

/// Without a limit version 1 has a number near the largest that there is.
constexpr uint64_t kNoLimit = uint64_t{1} << 60;

template <typename T>
std::optional<T> number_in(const std::string& path) {  // "max" is no number
  std::ifstream file(path);
  T number = 0;
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

struct MemoryFiles {
  std::string_view limit, usage, cache;  // cache: a line of memory.stat
};

std::optional<uint64_t> memory_left(const std::string& folder, const MemoryFiles& files) {
  const auto limit = number_in<uint64_t>(fmt::format("{}/{}", folder, files.limit));
  const auto usage = number_in<uint64_t>(fmt::format("{}/{}", folder, files.usage));
  if (!limit || !usage || *limit >= kNoLimit) return std::nullopt;
  const uint64_t cache = stat_of(folder + "/memory.stat", files.cache);
  const uint64_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

std::optional<uint64_t> first_memory_left(const std::string& folder) {
  return memory_left(folder,
                     {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"});
}
std::optional<uint64_t> second_memory_left(const std::string& folder) {
  return memory_left(folder, {"memory.max", "memory.current", "inactive_file"});
}

std::optional<double> share(std::optional<double> time, std::optional<double> period) {
  if (!time || !period || *time <= 0 || *period <= 0) return std::nullopt;
  return *time / *period;
}
std::optional<double> first_cpus(const std::string& folder) {  // -1: no limit
  return share(number_in<double>(folder + "/cpu.cfs_quota_us"),
               number_in<double>(folder + "/cpu.cfs_period_us"));
}
std::optional<double> second_cpus(const std::string& folder) {  // "max 100000", "150000 100000"
  std::ifstream file(folder + "/cpu.max");
  double time = 0, period = 0;
  return file >> time >> period ? share(time, period) : std::nullopt;
}

/// A resource in both versions.
template <typename T>
struct Resource {
  std::string_view controller;  // of version 1, whose groups are in a folder of its own
  std::optional<T> (*first)(const std::string& folder);
  std::optional<T> (*second)(const std::string& folder);
};

/// The least that a group and its parents leave; in a container the outermost visible is its own.
template <typename T>
std::optional<T> least_of(std::string group, const std::string& mounted,
                          std::optional<T> (*left_in)(const std::string&)) {
  std::optional<T> least;
  for (;;) {
    const std::optional<T> left = left_in(mounted + group);
    if (left) least = std::min(least.value_or(*left), *left);
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

template <typename T>
std::optional<T> least(const ControlGroups& own, const Resource<T>& resource) {
  std::optional<T> least;
  std::istringstream lines(own.groups);
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,memory:/a/b", or "0::/a/b"
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_second = kinds == ",,";
    if (!is_second && kinds.find(fmt::format(",{},", resource.controller)) == kinds.npos) continue;
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    const std::string folder =
        is_second ? own.mounted : fmt::format("{}/{}", own.mounted, resource.controller);
    const std::optional<T> left =
        least_of(std::move(group), folder, is_second ? resource.second : resource.first);
    if (left) least = std::min(least.value_or(*left), *left);
  }
  return least;
}

}  // namespace

ControlGroups ControlGroups::of_process() {
  std::ostringstream groups;
  groups << std::ifstream("/proc/self/cgroup").rdbuf();
  return {groups.str(), "/sys/fs/cgroup"};
}

std::optional<uint64_t> ControlGroups::bytes_left() const {
  return least<uint64_t>(*this, {"memory", first_memory_left, second_memory_left});
}

std::optional<double> ControlGroups::cpus() const {
  return least<double>(*this, {"cpu", first_cpus, second_cpus});
}

}  // namespace tokamak
