#include "hub/cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tokamak::hub {
namespace {

namespace fs = std::filesystem;

const std::string kCommit(40, 'c');

struct Cache : testing::Test {
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cache_test_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const std::string& path, std::string_view text = "{}") const {
    const fs::path file = fs::path(root) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void write_snapshot(const std::string& path, std::string_view text = "{}") const {
    write("models--org--name/snapshots/" + kCommit + "/" + path, text);
  }
  std::string snapshot() const { return root + "/models--org--name/snapshots/" + kCommit; }
  std::string message(const std::string& model) const {
    const auto path = resolve_model(model, root);
    return path ? "found " + *path : path.error().message;
  }

  std::string root;
};

TEST_F(Cache, FindsASnapshotByBranchTagAndCommit) {
  write_snapshot("config.json");
  write_snapshot("model.safetensors");
  write("models--org--name/refs/main", kCommit);
  write("models--org--name/refs/refs/pr/1", kCommit + "\n");
  for (const char* model : {"org/name", "org/name@main", "org/name@refs/pr/1"}) {
    EXPECT_EQ(message(model), "found " + snapshot());
  }
  EXPECT_EQ(message("org/name@" + kCommit), "found " + snapshot());
}

TEST_F(Cache, PrefersWhatExistsToNames) {
  EXPECT_EQ(message(root), "found " + root);
}

TEST_F(Cache, ReportsHowToGetWhatIsNotThere) {
  EXPECT_NE(message("org/name").find("`tokamak pull org/name` fetches it"), std::string::npos);
  write_snapshot("config.json");
  EXPECT_NE(message("org/name").find("revision \"main\""), std::string::npos);
  write("models--org--name/refs/main", kCommit);
  EXPECT_NE(message("org/name").find("the weights are missing"), std::string::npos);
  EXPECT_NE(message("path/to/model").find("no such folder"), std::string::npos);
}

TEST_F(Cache, DoesNotFollowRefsThatHoldSomethingElse) {
  write_snapshot("config.json");
  write_snapshot("model.safetensors");
  for (const std::string& text : {std::string("../../x"), std::string(), kCommit + kCommit}) {
    write("models--org--name/refs/main", text);
    EXPECT_NE(message("org/name").find("revision \"main\""), std::string::npos) << text;
  }
}

TEST_F(Cache, CountsTheShardsOfTheIndex) {
  write("models--org--name/refs/main", kCommit);
  write_snapshot("config.json");
  write_snapshot("model.safetensors.index.json",
                 R"({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})");
  write_snapshot("1.safetensors");
  EXPECT_NE(message("org/name").find("\"2.safetensors\" is missing"), std::string::npos);
  write_snapshot("2.safetensors");
  EXPECT_EQ(message("org/name"), "found " + snapshot());
}

TEST_F(Cache, CountsTheShardsBesideAGgufFile) {
  write("models--org--name/refs/main", kCommit);
  write_snapshot("config.json");
  write_snapshot("model.safetensors.index.json", R"({"weight_map": {"a": "1.safetensors"}})");
  write_snapshot("a-Q4_0.gguf");
  EXPECT_NE(message("org/name").find("\"1.safetensors\" is missing"), std::string::npos);
  EXPECT_EQ(message("org/name:Q4_0"), "found " + snapshot() + "/a-Q4_0.gguf");
  EXPECT_EQ(missing_part(snapshot(), snapshot_files(snapshot())), "");
}

TEST_F(Cache, CountsThePartsOfAGgufFile) {
  write("models--org--name/refs/main", kCommit);
  write_snapshot("a-Q4_0-00002-of-00002.gguf");
  write_snapshot("mmproj-a.gguf");
  EXPECT_EQ(message("org/name:Q4_0"),
            "org/name:Q4_0 is only partly in " + root +
                ": files beside a-Q4_0-00002-of-00002.gguf are missing; `tokamak pull "
                "org/name:Q4_0` fetches the rest.");
  EXPECT_EQ(missing_part(snapshot(), snapshot_files(snapshot())), "config.json is missing");
  write_snapshot("a-Q4_0-00001-of-00002.gguf");
  EXPECT_EQ(message("org/name"), "found " + snapshot() + "/a-Q4_0-00001-of-00002.gguf");
  EXPECT_EQ(missing_part(snapshot(), snapshot_files(snapshot())), "");
}

TEST_F(Cache, DoesNotCountLinksToNothing) {
  write_snapshot("config.json");
  fs::create_symlink("../../blobs/gone", snapshot() + "/model.safetensors");
  EXPECT_EQ(snapshot_files(snapshot()), std::vector<std::string>{"config.json"});
}

TEST_F(Cache, ReportsWhyAPathLeadsNowhere) {
  fs::create_symlink("loop", root + "/loop");
  fs::create_symlink("gone", root + "/dangling");
  EXPECT_EQ(message(root + "/loop"), root + "/loop: The symbolic links lead in a circle.");
  EXPECT_EQ(message(root + "/dangling"),
            root + "/dangling: The symbolic link points to gone, which is not there.");
  EXPECT_EQ(message(root + "/none"), root + "/none: there is no such folder or file.");
  EXPECT_NE(message("llama3").find("the form org/name"), std::string::npos);
}

TEST_F(Cache, ChoosesAGgufFile) {
  write("models--org--name/refs/main", kCommit);
  write_snapshot("a-Q4_0.gguf");
  EXPECT_EQ(message("org/name"), "found " + snapshot() + "/a-Q4_0.gguf");
  write_snapshot("a-Q8_0.gguf");
  EXPECT_EQ(message("org/name:Q8_0"), "found " + snapshot() + "/a-Q8_0.gguf");
  EXPECT_NE(message("org/name").find("a-Q4_0.gguf, a-Q8_0.gguf"), std::string::npos);
  EXPECT_FALSE(is_default_choice(snapshot() + "/a-Q8_0.gguf"));
  write_snapshot("a-Q4_K_M.gguf");
  EXPECT_EQ(message("org/name"), "found " + snapshot() + "/a-Q4_K_M.gguf");
  EXPECT_TRUE(is_default_choice(snapshot() + "/a-Q4_K_M.gguf"));
  EXPECT_NE(message("org/name:Q5_0").find("`tokamak pull org/name:Q5_0`"), std::string::npos);
}

}  // namespace
}  // namespace tokamak::hub
