#include "hub/model_name.h"

#include <gtest/gtest.h>

namespace tokamak::hub {
namespace {

TEST(ModelName, HasARevisionAndAChoice) {
  const auto plain = parse_model_name("google/gemma-3-270m-it");
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, (ModelName{"google/gemma-3-270m-it", "main", ""}));
  EXPECT_EQ(*parse_model_name("a/b@refs/pr/1"), (ModelName{"a/b", "refs/pr/1", ""}));
  EXPECT_EQ(*parse_model_name("a/b-GGUF:Q4_K_M"), (ModelName{"a/b-GGUF", "main", "Q4_K_M"}));
  EXPECT_EQ(*parse_model_name("a/b@v1:x/y.gguf"), (ModelName{"a/b", "v1", "x/y.gguf"}));
}

TEST(ModelName, IsWrittenAsItWasRead) {
  for (const char* text : {"a/b", "a/b@v1", "a/b:Q8_0", "a/b@v1:x/y.gguf"}) {
    EXPECT_EQ(parse_model_name(text)->text(), text);
  }
}

TEST(ModelName, MayBeAnAddress) {
  for (const char* text :
       {"https://huggingface.co/a/b", "http://www.huggingface.co/a/b/", "huggingface.co/a/b",
        "hf.co/a/b", "https://huggingface.co/a/b/tree/main", "https://huggingface.co/a/b?x=y#z"}) {
    ASSERT_TRUE(parse_model_name(text)) << text;
    EXPECT_EQ(parse_model_name(text)->text(), "a/b") << text;
  }
  EXPECT_EQ(*parse_model_name("hf.co/a/b:Q4_K_M"), (ModelName{"a/b", "main", "Q4_K_M"}));
  EXPECT_EQ(*parse_model_name("https://huggingface.co/a/b/blob/v1/x/y.gguf?download=true"),
            (ModelName{"a/b", "v1", "x/y.gguf"}));
  for (const char* text : {"https://huggingface.co/a", "https://huggingface.co/datasets/a/b",
                           "https://huggingface.co/a/b/discussions", "https://example.org/a/b",
                           "https://huggingface.co/../b", "ftp://huggingface.co/a/b"}) {
    ASSERT_FALSE(parse_model_name(text)) << text;
    EXPECT_EQ(parse_model_name(text).error().code, ErrorCode::kUsage);
  }
}

TEST(ModelName, RefusesWhatCouldLeadElsewhere) {
  for (const char* text : {"",
                           "a",
                           "/",
                           "a/",
                           "/b",
                           "a/b/c",
                           "../b",
                           "a/..",
                           ".a/b",
                           "a/b-",
                           "a--b/c",
                           "a/b--c",
                           "a b/c",
                           "a/b@",
                           "a/b@../c",
                           "a/b@/c",
                           "a/b@c//d",
                           "a/b@c d",
                           "a/b:",
                           "a/b:../c",
                           "a/b:/c",
                           "a\\b/c",
                           "a/b:c\\d",
                           "a/b\n",
                           "a/b.git",
                           "a/\xc3\xa9",
                           "hf.co/hf.co/b",
                           "huggingface.co/huggingface.co/b:c"}) {
    const auto name = parse_model_name(text);
    ASSERT_FALSE(name) << text;
    EXPECT_EQ(name.error().code, ErrorCode::kUsage);
  }
  EXPECT_FALSE(parse_model_name("a/" + std::string(96, 'b')));
}

TEST(InnerPath, StaysBelowItsFolder) {
  for (const char* path : {"a", "a/b.json", "a/.b/c", "..a/b..", "\xc3\xa9/x"}) {
    EXPECT_TRUE(is_inner_path(path)) << path;
  }
  for (const char* path :
       {"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a\\b", "a\tb", "\x7f"}) {
    EXPECT_FALSE(is_inner_path(path)) << path;
  }
  EXPECT_FALSE(is_inner_path(std::string(256, 'a')));
}

TEST(Commit, IsFortyDigitsInLowerCase) {
  EXPECT_TRUE(is_commit(std::string(40, 'a')));
  EXPECT_FALSE(is_commit(std::string(40, 'A')));
  EXPECT_FALSE(is_commit(std::string(39, 'a')));
  EXPECT_FALSE(is_commit(std::string(40, 'g')));
}

}  // namespace
}  // namespace tokamak::hub
