#include "download/http.h"

#include <gtest/gtest.h>

namespace tokamak::download {
namespace {

// The token goes where the origin is equal, so these are what keeps it at home.
TEST(Origin, IsSchemeHostAndPort) {
  EXPECT_EQ(origin_of("https://huggingface.co/a/b?c"), "https://huggingface.co:443");
  EXPECT_EQ(origin_of("HTTPS://HuggingFace.co:443"), "https://huggingface.co:443");
  EXPECT_EQ(origin_of("http://localhost:8080/x"), "http://localhost:8080");
  EXPECT_NE(origin_of("http://huggingface.co"), origin_of("https://huggingface.co"));
  EXPECT_NE(origin_of("https://huggingface.co.evil.org"), origin_of("https://huggingface.co"));
  EXPECT_EQ(origin_of("https://huggingface.co@evil.org/"), "https://evil.org:443");
  EXPECT_EQ(origin_of("file:///etc/passwd"), "");
  EXPECT_EQ(origin_of("ftp://example.org/"), "");
  EXPECT_EQ(origin_of("not an address"), "");
}

TEST(Escaped, LeavesOnlyWhatMeansNothing) {
  EXPECT_EQ(escaped("a-Z_0.9~"), "a-Z_0.9~");
  EXPECT_EQ(escaped("refs/pr/1"), "refs%2Fpr%2F1");
  EXPECT_EQ(escaped("a b?#%"), "a%20b%3F%23%25");
  EXPECT_EQ(escaped("\xc3\xa9"), "%C3%A9");
}

}  // namespace
}  // namespace tokamak::download
