#include "engine/control_group.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tokamak {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public testing::Test {
 protected:
  ControlGroups() : root_(fs::path(testing::TempDir()) / "tokamak_groups") {
    fs::remove_all(root_);
  }
  ~ControlGroups() override { fs::remove_all(root_); }

  void write(const std::string& file, std::string_view text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  std::optional<uint64_t> left(const std::string& groups) {
    return bytes_left_by_groups(groups, root_.string());
  }

  fs::path root_;
};

TEST_F(ControlGroups, LeaveTheLeastOfAGroupAndItsParents) {
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

TEST_F(ControlGroups, CountPageCacheAsFree) {
  write("memory.max", "1000");
  write("memory.current", "900");
  write("memory.stat", "anon 300\nfile 600\ninactive_file 500\nactive_file 100");
  EXPECT_EQ(left("0::/\n"), 600u);
}

TEST_F(ControlGroups, ReadTheFirstVersionToo) {
  const char* groups = "9:cpu:/x\n4:cpuacct,memory:/a\n0::/\n";
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  write("memory/memory.usage_in_bytes", "5000");
  EXPECT_EQ(left(groups), std::nullopt) << "no limit";
  write("memory/a/memory.limit_in_bytes", "2000");
  write("memory/a/memory.usage_in_bytes", "1500");
  write("memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 200");
  EXPECT_EQ(left(groups), 700u);
}

TEST_F(ControlGroups, SayNothingWhereThereIsNothing) {
  EXPECT_EQ(left(""), std::nullopt);
  EXPECT_EQ(left("nonsense\n0::/gone\n"), std::nullopt);
}

}  // namespace
}  // namespace tokamak
