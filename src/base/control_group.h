// The memory and the CPUs that the control groups of Linux leave a process: those of a container,
// however much the machine has. Both versions, by the kernel's
// Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst and scheduler/sched-bwc.rst.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace tokamak {

struct ControlGroups {
  std::string groups;   // the text of /proc/self/cgroup
  std::string mounted;  // where control groups are: /sys/fs/cgroup

  /// Those of this process.
  static ControlGroups of_process();

  /// Bytes that the groups leave, the least of each group's and its parents' limits less what is in
  /// use there; page cache that the kernel would give up counts as free. Nothing where none of them
  /// has a limit.
  std::optional<uint64_t> bytes_left() const;

  /// How many CPUs' time the groups may use, the least of each group's and its parents'. Nothing
  /// where none of them has a limit.
  std::optional<double> cpus() const;
};

}  // namespace tokamak
