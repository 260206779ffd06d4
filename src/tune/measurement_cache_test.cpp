#include "tune/measurement_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tokamak {
namespace {

namespace fs = std::filesystem;

class MeasurementCacheTest : public testing::Test {
 protected:
  MeasurementCacheTest()
      : folder_(fs::path(testing::TempDir()) /
                (std::string("tokamak_measurement_cache_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    device_.backend = BackendKind::kWebGpu;
    device_.name = "A \"device\"";
    device_.driver = "Vulkan, 1.2";
    cache_.set("kernels", Json::Array{"a", 1.5e-5, Json()});
  }
  ~MeasurementCacheTest() override { fs::remove_all(folder_); }

  MeasurementCache cache() const { return {folder_.string(), kSelfTestCache, device_}; }
  static std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write_file(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  fs::path folder_;
  DeviceInfo device_;
  Json cache_;
};

TEST_F(MeasurementCacheTest, AreKept) {
  EXPECT_TRUE(cache().read().is_null());
  ASSERT_TRUE(cache().write(cache_));
  EXPECT_EQ(cache().read(), cache_);
  ASSERT_TRUE(cache().write(Json(3)));
  EXPECT_EQ(cache().read(), Json(3));
  const auto files = fs::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "no partial file stays";
}

TEST_F(MeasurementCacheTest, BelongToOneDeviceAndDriver) {
  ASSERT_TRUE(cache().write(cache_));
  const std::string own = read_file(cache().path());
  device_.driver = "Vulkan, 1.3";
  EXPECT_TRUE(cache().read().is_null());
  write_file(cache().path(), own);
  EXPECT_TRUE(cache().read().is_null()) << "another's file under our name";
  EXPECT_TRUE(cache().write(cache_));
  EXPECT_EQ(cache().read(), cache_);
}

TEST_F(MeasurementCacheTest, AreIgnoredWhenDamaged) {
  ASSERT_TRUE(cache().write(cache_));
  const std::string whole = read_file(cache().path());
  for (size_t i = 0; i + 1 < whole.size(); ++i) {  // the last byte ends the line
    std::string damaged = whole;
    damaged[i] ^= 0x10;
    write_file(cache().path(), damaged);
    // White space between the values is no damage.
    if (!isspace(whole[i])) {
      EXPECT_TRUE(cache().read().is_null()) << "byte " << i;
    }
    write_file(cache().path(), whole.substr(0, i));
    EXPECT_TRUE(cache().read().is_null()) << "length " << i;
  }
  for (const char* text : {"", "[]", "{}", R"({"notes": 1})", "{\"sum\": {}}", "\xff\xfe"}) {
    write_file(cache().path(), text);
    EXPECT_TRUE(cache().read().is_null()) << text;
  }
  ASSERT_TRUE(cache().write(cache_));
  EXPECT_EQ(cache().read(), cache_) << "and healed";
}

TEST_F(MeasurementCacheTest, DoWithoutAFolder) {
  EXPECT_FALSE(MeasurementCache("", kSelfTestCache, device_).write(cache_));
  EXPECT_TRUE(MeasurementCache("", kSelfTestCache, device_).read().is_null());
  write_file(folder_.string(), "a file");
  EXPECT_FALSE(cache().write(cache_));
  EXPECT_TRUE(cache().read().is_null());
}

}  // namespace
}  // namespace tokamak
