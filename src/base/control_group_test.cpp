#include "base/control_group.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tokamak {
namespace {

namespace fs = std::filesystem;

class ControlGroupsTest : public testing::Test {
 protected:
  ControlGroupsTest() : root_(fs::path(testing::TempDir()) / "tokamak_groups") {
    fs::remove_all(root_);
  }
  ~ControlGroupsTest() override { fs::remove_all(root_); }

  void write(const std::string& file, std::string_view text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  std::optional<uint64_t> left(const std::string& groups) {
    return ControlGroups{groups, root_.string()}.bytes_left();
  }
  std::optional<double> cpus(const std::string& groups) {
    return ControlGroups{groups, root_.string()}.cpus();
  }

  fs::path root_;
};

TEST_F(ControlGroupsTest, LeaveTheLeastOfAGroupAndItsParents) {
  write("a/memory.max", "1000");
  write("a/memory.current", "700");
  write("a/b/memory.max", "max");
  write("a/b/memory.current", "100");
  EXPECT_EQ(left("0::/a/b\n"), 300u);
  write("a/b/memory.max", "250");
  EXPECT_EQ(left("0::/a/b\n"), 150u);
  write("a/b/memory.current", "260");
  EXPECT_EQ(left("0::/a/b\n"), 0u);
}

TEST_F(ControlGroupsTest, CountPageCacheAsFree) {
  write("memory.max", "1000");
  write("memory.current", "900");
  write("memory.stat", "anon 300\nfile 600\ninactive_file 500\nactive_file 100");
  EXPECT_EQ(left("0::/\n"), 600u);
}

TEST_F(ControlGroupsTest, ReadTheFirstVersionToo) {
  const char* groups = "9:cpu:/x\n4:cpuacct,memory:/a\n0::/\n";
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  write("memory/memory.usage_in_bytes", "5000");
  EXPECT_EQ(left(groups), std::nullopt) << "no limit";
  write("memory/a/memory.limit_in_bytes", "2000");
  write("memory/a/memory.usage_in_bytes", "1500");
  write("memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 200");
  EXPECT_EQ(left(groups), 700u);
}

TEST_F(ControlGroupsTest, ReportNothingWhereThereIsNothing) {
  EXPECT_EQ(left(""), std::nullopt);
  EXPECT_EQ(left("nonsense\n0::/gone\n"), std::nullopt);
}

TEST_F(ControlGroupsTest, GiveTheFewestCpusOfAGroupAndItsParents) {
  write("cpu.max", "max 100000");
  EXPECT_EQ(cpus("0::/a/b\n"), std::nullopt) << "no limit";
  write("a/cpu.max", "250000 100000");
  write("a/b/cpu.max", "400000 100000");
  EXPECT_EQ(cpus("0::/a/b\n"), 2.5);
  EXPECT_EQ(cpus("0::/\n"), std::nullopt);
}

TEST_F(ControlGroupsTest, GiveTheCpusOfTheFirstVersionToo) {
  write("cpu/cpu.cfs_quota_us", "-1");
  write("cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cpus("3:cpuacct,cpu:/\n"), std::nullopt) << "no limit";
  write("cpu/a/cpu.cfs_quota_us", "50000");
  write("cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cpus("4:memory:/\n3:cpuacct,cpu:/a\n0::/\n"), 0.5);
}

}  // namespace
}  // namespace tokamak
