#include "hub/reply.h"

#include <gtest/gtest.h>

namespace tokamak::hub {
namespace {

const std::string kCommit(40, 'c'), kBlob(40, 'b'), kSha(64, 'a');

std::string reply(const std::string& siblings) {
  return fmt::format(R"({{"id": "a/b", "sha": "{}", "siblings": [{}]}})", kCommit, siblings);
}

TEST(Reply, ListsFilesSortedWithTheNamesOfTheirBlobs) {
  const auto listing = parse_repo_reply(reply(fmt::format(
      R"({{"rfilename": "m.safetensors", "size": 9, "blobId": "{}", "lfs": {{"sha256": "{}", "size": 9}}}},
         {{"rfilename": "config.json", "size": 2, "blobId": "{}", "lfs": null}})",
      kBlob, kSha, kBlob)));
  ASSERT_TRUE(listing) << listing.error().message;
  EXPECT_EQ(listing->commit, kCommit);
  ASSERT_EQ(listing->files.size(), 2u);
  EXPECT_EQ(listing->files[0], (RepoFile{"config.json", 2, kBlob}));
  EXPECT_EQ(listing->files[1], (RepoFile{"m.safetensors", 9, kSha}));
  EXPECT_FALSE(listing->files[0].large());
  EXPECT_TRUE(listing->files[1].large());
  EXPECT_EQ(listing->find("m.safetensors"), &listing->files[1]);
  EXPECT_EQ(listing->find("m"), nullptr);
}

TEST(Reply, NamesTheEntryThatIsWrong) {
  const auto file = [](const char* path, const char* size, const std::string& blob) {
    return reply(
        fmt::format(R"({{"rfilename": "{}", "size": {}, "blobId": "{}"}})", path, size, blob));
  };
  const struct {
    std::string text, mention;
  } cases[] = {
      {"[]", "sha"},
      {R"({"sha": "main", "siblings": []})", "40 hexadecimal"},
      {fmt::format(R"({{"sha": "{}"}})", kCommit), "siblings"},
      {reply("1"), "rfilename"},
      {file("../x", "1", kBlob), "outside"},
      {file("a", "-1", kBlob), "\"a\": \"size\""},
      {file("a", "1e3", kBlob), "size"},
      {file("a", "9223372036854775807", kBlob), "size"},
      {file("a", "1", "../../x"), "blobId"},
      {file("a", "1", std::string(40, 'B')), "blobId"},
      {reply(R"({"rfilename": "a", "size": 1, "lfs": {"size": 1}})"), "sha256"},
      {reply(fmt::format(R"({0}, {0})",
                         R"({"rfilename": "a", "size": 1, "blobId": ")" + kBlob + "\"}")),
       "twice"},
  };
  for (const auto& [text, mention] : cases) {
    const auto listing = parse_repo_reply(text);
    ASSERT_FALSE(listing) << text;
    EXPECT_NE(listing.error().message.find(mention), std::string::npos) << listing.error().message;
  }
}

}  // namespace
}  // namespace tokamak::hub
