// How much memory a Linux control group leaves: what a container may still use, however much the
// machine has.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace tokamak {

/// Bytes that the groups of a process leave it, the least of each group's and its parents' limits
/// less what is in use there; page cache that the kernel would give up counts as free. Nothing
/// where none of them has a limit. `groups`: the text of /proc/self/cgroup; `mounted`: where
/// control groups are, /sys/fs/cgroup. Both versions, by the kernel's
/// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
std::optional<uint64_t> bytes_left_by_groups(const std::string& groups, const std::string& mounted);

}  // namespace tokamak
