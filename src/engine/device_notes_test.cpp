#include "engine/device_notes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tokamak {
namespace {

namespace fs = std::filesystem;

class DeviceNotesTest : public testing::Test {
 protected:
  DeviceNotesTest()
      : folder_(fs::path(testing::TempDir()) /
                (std::string("tokamak_notes_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    device_.backend = BackendKind::kWebGpu;
    device_.name = "A \"device\"";
    device_.driver = "Vulkan, 1.2";
    notes_.set("kernels", Json::Array{"a", 1.5e-5, Json()});
  }
  ~DeviceNotesTest() override { fs::remove_all(folder_); }

  DeviceNotes notes() const { return {folder_.string(), kSelfTestCache, device_}; }
  static std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write_file(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  fs::path folder_;
  DeviceInfo device_;
  Json notes_;
};

TEST_F(DeviceNotesTest, AreKept) {
  EXPECT_TRUE(notes().read().is_null());
  ASSERT_TRUE(notes().write(notes_));
  EXPECT_EQ(notes().read(), notes_);
  ASSERT_TRUE(notes().write(Json(3)));
  EXPECT_EQ(notes().read(), Json(3));
  const auto files = fs::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "no partial file stays";
}

TEST_F(DeviceNotesTest, BelongToOneDeviceAndDriver) {
  ASSERT_TRUE(notes().write(notes_));
  const std::string own = read_file(notes().path());
  device_.driver = "Vulkan, 1.3";
  EXPECT_TRUE(notes().read().is_null());
  write_file(notes().path(), own);
  EXPECT_TRUE(notes().read().is_null()) << "another's file under our name";
  EXPECT_TRUE(notes().write(notes_));
  EXPECT_EQ(notes().read(), notes_);
}

TEST_F(DeviceNotesTest, AreIgnoredWhenDamaged) {
  ASSERT_TRUE(notes().write(notes_));
  const std::string whole = read_file(notes().path());
  for (size_t i = 0; i + 1 < whole.size(); ++i) {  // the last byte ends the line
    std::string damaged = whole;
    damaged[i] ^= 0x10;
    write_file(notes().path(), damaged);
    // White space between the values is no damage.
    if (!isspace(whole[i])) {
      EXPECT_TRUE(notes().read().is_null()) << "byte " << i;
    }
    write_file(notes().path(), whole.substr(0, i));
    EXPECT_TRUE(notes().read().is_null()) << "length " << i;
  }
  for (const char* text : {"", "[]", "{}", R"({"notes": 1})", "{\"sum\": {}}", "\xff\xfe"}) {
    write_file(notes().path(), text);
    EXPECT_TRUE(notes().read().is_null()) << text;
  }
  ASSERT_TRUE(notes().write(notes_));
  EXPECT_EQ(notes().read(), notes_) << "and healed";
}

TEST_F(DeviceNotesTest, DoWithoutAFolder) {
  EXPECT_FALSE(DeviceNotes("", kSelfTestCache, device_).write(notes_));
  EXPECT_TRUE(DeviceNotes("", kSelfTestCache, device_).read().is_null());
  write_file(folder_.string(), "a file");
  EXPECT_FALSE(notes().write(notes_));
  EXPECT_TRUE(notes().read().is_null());
}

}  // namespace
}  // namespace tokamak
