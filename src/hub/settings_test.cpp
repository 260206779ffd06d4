// Expected values are what huggingface_hub makes of the same environment.
#include "hub/settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/environment.h"

namespace tokamak::hub {
namespace {

/// The hub's variables as they are given, all others of them unset; as they were afterwards.
class Environment : public testing::Test {
 protected:
  static constexpr const char* kNames[] = {"HF_HOME",
                                           "HF_HUB_CACHE",
                                           "HUGGINGFACE_HUB_CACHE",
                                           "XDG_CACHE_HOME",
                                           "HOME",
                                           "HF_ENDPOINT",
                                           "HF_TOKEN",
                                           "HUGGING_FACE_HUB_TOKEN",
                                           "HF_TOKEN_PATH",
                                           "HF_HUB_DISABLE_IMPLICIT_TOKEN",
                                           "HF_HUB_OFFLINE",
                                           "TRANSFORMERS_OFFLINE",
                                           "TOKAMAK_TEST_DISK"};

  Environment() {
    for (const char* name : kNames) before_.emplace_back(name, environment_variable(name));
  }
  ~Environment() override {
    for (const auto& [name, value] : before_) {
      if (value.empty()) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), value.c_str(), 1);
      }
    }
  }

  Settings with(std::vector<std::pair<const char*, std::string>> variables) {
    for (const char* name : kNames) unsetenv(name);
    setenv("HOME", "/users/u", 1);
    for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
    auto settings = read_settings();
    EXPECT_TRUE(settings) << settings.error().message;
    return settings ? *settings : Settings();
  }

 private:
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(Environment, ReportsWhereTheModelsAre) {
  EXPECT_EQ(with({}).cache, "/users/u/.cache/huggingface/hub");
  EXPECT_EQ(with({{"XDG_CACHE_HOME", "/x"}}).cache, "/x/huggingface/hub");
  EXPECT_EQ(with({{"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "/h"}}).cache, "/h/hub");
  EXPECT_EQ(with({{"HF_HOME", "/h"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache, "/old");
  EXPECT_EQ(with({{"HF_HUB_CACHE", "/new"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache, "/new");
}

TEST_F(Environment, ExpandsPaths) {
  EXPECT_EQ(with({{"HF_HOME", "~/hf"}}).cache, "/users/u/hf/hub");
  EXPECT_EQ(with({{"HF_HUB_CACHE", "~"}}).cache, "/users/u");
  EXPECT_EQ(with({{"HF_HUB_CACHE", "a~/b"}}).cache, "a~/b");
  const std::pair<const char*, std::string> disk = {"TOKAMAK_TEST_DISK", "/mnt"};
  EXPECT_EQ(with({disk, {"HF_HUB_CACHE", "$TOKAMAK_TEST_DISK/a"}}).cache, "/mnt/a");
  EXPECT_EQ(with({disk, {"HF_HOME", "/d${TOKAMAK_TEST_DISK}1"}}).cache, "/d/mnt1/hub");
  EXPECT_EQ(with({disk, {"XDG_CACHE_HOME", "$TOKAMAK_TEST_DISK"}}).cache, "/mnt/huggingface/hub");
  for (const char* as_it_is : {"/a/$NOT_SET_HERE/b", "/a/${NOT_SET_HERE}", "/a/$", "/a/${", "$$"}) {
    EXPECT_EQ(with({{"HF_HUB_CACHE", as_it_is}}).cache, as_it_is);
  }
}

TEST_F(Environment, ReportsWhetherToStayOffline) {
  for (const char* yes : {"1", "ON", "yes", "True"}) {
    EXPECT_TRUE(with({{"HF_HUB_OFFLINE", yes}}).offline) << yes;
    EXPECT_TRUE(with({{"TRANSFORMERS_OFFLINE", yes}}).offline) << yes;
  }
  for (const char* no : {"", "0", "off", "2", "y"}) {
    EXPECT_FALSE(with({{"HF_HUB_OFFLINE", no}}).offline) << no;
  }
  EXPECT_FALSE(with({{"HF_HUB_OFFLINE", "0"}, {"TRANSFORMERS_OFFLINE", "1"}}).offline);
}

TEST_F(Environment, HasTheToken) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/token") << "  hf_fi\r\nle \n";
  std::ofstream(folder + "/other") << "hf_other\n";
  const std::pair<const char*, std::string> home = {"HF_HOME", folder};
  EXPECT_EQ(with({}).token, "");
  EXPECT_EQ(with({home}).token, "hf_file");
  EXPECT_EQ(
      with({home, {"TOKAMAK_TEST_DISK", folder}, {"HF_TOKEN_PATH", "$TOKAMAK_TEST_DISK/other"}})
          .token,
      "hf_other");
  EXPECT_EQ(with({home, {"HF_TOKEN", " hf_new\n"}, {"HUGGING_FACE_HUB_TOKEN", "hf_old"}}).token,
            "hf_new");
  EXPECT_EQ(with({home, {"HF_TOKEN", ""}, {"HUGGING_FACE_HUB_TOKEN", "hf_old"}}).token, "hf_old");
  EXPECT_EQ(with({home, {"HF_TOKEN", " "}}).token, "hf_file");
  EXPECT_EQ(with({{"HF_TOKEN", "hf_new"}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}}).token, "");
}

TEST_F(Environment, NamesTheEndpoint) {
  EXPECT_EQ(with({}).endpoint, "https://huggingface.co");
  EXPECT_EQ(with({{"HF_ENDPOINT", "https://mirror.example//"}}).endpoint, "https://mirror.example");
}

}  // namespace
}  // namespace tokamak::hub
