#include "tune/quantized_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/bits.h"
#include "formats/native_files.h"
#include "model/constant_bytes.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr Dim kRows = 40, kColumns = 96;

struct QuantizedCache : testing::Test {
  const std::string place = fmt::format("{}tokamak_cache_{}", testing::TempDir(), ::getpid());
  const std::string path = place + "/model.safetensors", folder = place + "/cache/quantized";

  void SetUp() override {
    fs::create_directories(place);
    write(1);
  }
  void TearDown() override { fs::remove_all(place); }

  /// A matrix and a norm, in f16.
  void write(uint32_t seed) const {
    std::string data;
    for (uint32_t i = 0; i < uint32_t(kRows * kColumns + kColumns); ++i) {
      const uint16_t half = f32_to_f16(float((i + seed) * 2654435761u >> 20) / 2048 - 1);
      data += std::string(reinterpret_cast<const char*>(&half), sizeof half);
    }
    const size_t matrix = size_t(kRows * kColumns) * 2;
    std::string header =
        fmt::format(R"({{"w":{{"dtype":"F16","shape":[{},{}],"data_offsets":[0,{}]}},)"
                    R"("n":{{"dtype":"F16","shape":[{}],"data_offsets":[{},{}]}}}})",
                    kRows, kColumns, matrix, kColumns, matrix, data.size());
    const uint64_t length = header.size();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file << header << data;
  }

  static TensorDesc matrix(DType dtype) {
    return {"w", {kRows, kColumns}, dtype, Storage::kConstant, Weight{{"w"}}, 0};
  }
  static Graph graph(DType dtype) {
    Graph graph;
    graph.values = {
        matrix(dtype),
        {"n", {kColumns}, DType::kF32, Storage::kConstant, Weight{{"n"}}, 0},
    };
    return graph;
  }
  /// Opens the checkpoint through the cache; the weights must be those without one.
  void expect_right(DType dtype, bool cached = true) const {
    const auto plain = open_safetensors_file(path);
    ASSERT_TRUE(plain) << plain.error().message;
    const auto file = with_quantized_cache(*plain, graph(dtype), folder);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->find("w")->dtype, cached ? dtype : DType::kF16);
    EXPECT_EQ(constant_bytes(*file, matrix(dtype)), constant_bytes(*plain, matrix(dtype)));
    EXPECT_EQ(constant_bytes(*file, graph(dtype).values[1]),
              constant_bytes(*plain, graph(dtype).values[1]));
  }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) files.push_back(entry.path());
    return files;
  }
};

TEST_F(QuantizedCache, IsMadeOnceForEachFormat) {
  expect_right(DType::kQ4_0);
  ASSERT_EQ(kept().size(), 1u);
  struct stat made{}, now{};
  ASSERT_EQ(stat(kept()[0].c_str(), &made), 0);
  const auto long_ago = fs::last_write_time(kept()[0]) - std::chrono::hours(50);
  fs::last_write_time(kept()[0], long_ago);
  expect_right(DType::kQ4_0);
  ASSERT_EQ(stat(kept()[0].c_str(), &now), 0);
  EXPECT_EQ(now.st_ino, made.st_ino) << "no other file";
  EXPECT_GT(fs::last_write_time(kept()[0]), long_ago) << "the time of its last use";
  expect_right(DType::kQ8_0);
  EXPECT_EQ(kept().size(), 2u);
}

TEST_F(QuantizedCache, IsNotTakenForAChangedFile) {
  expect_right(DType::kQ4_0);
  write(2);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(5));
  expect_right(DType::kQ4_0);
}

TEST_F(QuantizedCache, IsMadeAgainWhenItIsDamaged) {
  expect_right(DType::kQ4_0);
  ASSERT_EQ(kept().size(), 1u);
  const fs::path cache = kept()[0];
  const uint64_t size = fs::file_size(cache);
  const auto flip = [&](uint64_t at) {
    std::fstream file(cache, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(std::streamoff(at));
    const char byte = char(file.get() ^ 1);
    file.seekp(std::streamoff(at));
    file.put(byte);
  };
  for (const uint64_t at : {uint64_t{0}, uint64_t{40}, size / 2, size - 9, size - 1}) {
    SCOPED_TRACE(at);
    flip(at);
    expect_right(DType::kQ4_0);
    EXPECT_EQ(fs::file_size(cache), size);
  }
  for (const uint64_t length : {uint64_t{0}, uint64_t{5}, size - 1}) {
    SCOPED_TRACE(length);
    fs::resize_file(cache, length);
    expect_right(DType::kQ4_0);
    EXPECT_EQ(fs::file_size(cache), size);
  }
}

TEST_F(QuantizedCache, IsLeftOutWhereNothingCanBeWritten) {
  std::ofstream(place + "/cache") << "a file where the folder should be";
  expect_right(DType::kQ4_0, false);
  const auto plain = open_safetensors_file(path);
  ASSERT_TRUE(plain);
  const auto none = with_quantized_cache(*plain, graph(DType::kF16), folder);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->sources().size(), 1u);
  std::string told;
  ASSERT_TRUE(with_quantized_cache(*plain, graph(DType::kQ8_0), folder,
                                   [&](const std::string& text) { told += text; }));
  EXPECT_EQ(told,
            fmt::format("The next start quantizes the weights anew, since they cannot be kept: "
                        "{} cannot be made (Not a directory). `tokamak cache` shows what is.",
                        folder));
}

}  // namespace
}  // namespace tokamak
