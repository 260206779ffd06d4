#include "report/inspect/model_title.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

ModelFiles files_of(const std::string& path) {
  ModelFiles files;
  files.name = path;
  return files;
}

TEST(ModelTitle, IsWhatWasAskedFor) {
  const ModelFiles files = files_of("cache/models--org--name/snapshots/0123");
  EXPECT_EQ(model_title(files, "org/name"), "org/name");
  EXPECT_EQ(short_model_name(files, "org/name"), "name");
}

TEST(ModelTitle, OfTheBuiltInModelIsItsName) {
  const ModelFiles files = files_of("share/tokamak/models/storyteller");
  EXPECT_EQ(model_title(files, ""), "storyteller (built-in)");
  EXPECT_EQ(short_model_name(files, ""), "storyteller");
}

TEST(ModelTitle, IsShortWithoutFoldersAndTheEndingOfAFile) {
  EXPECT_EQ(short_model_name(files_of("a/b.gguf"), "a/b.gguf"), "b");
  EXPECT_EQ(short_model_name(files_of("a/b"), "a/b/"), "b");
  EXPECT_EQ(short_model_name(files_of("/"), "/"), "/");
}

}  // namespace
}  // namespace tokamak
