#include "protocol/requests/multipart.h"

#include <gtest/gtest.h>

namespace tokamak::protocol {
namespace {

constexpr const char* kType = "multipart/form-data; boundary=xYz";

std::string part(const std::string& name, const std::string& content) {
  return "--xYz\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + content +
         "\r\n";
}

std::string error_of(std::string_view type, std::string_view body) {
  const auto parts = read_form(type, body);
  return parts ? "" : parts.error().message;
}

TEST(ReadForm, FindsPartsByName) {
  const std::string body =
      part("model", "a") + part("file", std::string("RIFF\0\r\n--xY\r\n", 13)) + "--xYz--\r\n";
  const auto parts = read_form(kType, body);
  ASSERT_TRUE(parts) << parts.error().message;
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ(find_part(*parts, "model")->content, "a");
  EXPECT_EQ(find_part(*parts, "file")->content, std::string_view("RIFF\0\r\n--xY\r\n", 13));
  EXPECT_EQ(find_part(*parts, "prompt"), nullptr);
}

TEST(ReadForm, TakesWhatOthersWrite) {
  const std::string body =
      "preamble\r\n--a b;c\r\ncontent-type: audio/wav\r\nCONTENT-DISPOSITION: form-data; "
      "filename=\"x; "
      "name=y\"; name=file\r\n\r\n\r\n--a b;c-- and more";
  const auto parts = read_form("Multipart/Form-Data; charset=utf-8; Boundary=\"a b;c\"", body);
  ASSERT_TRUE(parts) << parts.error().message;
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ((*parts)[0].name, "file");
  EXPECT_EQ((*parts)[0].content, "");
  EXPECT_TRUE(read_form(kType, "--xYz--"));
}

TEST(ReadForm, ReportsWhatIsWrong) {
  EXPECT_EQ(error_of("application/json", "{}"),
            "The body is \"application/json\", expected multipart/form-data, a form with a file.");
  EXPECT_EQ(read_form("", "").error().status, 415);
  EXPECT_EQ(error_of("multipart/form-data", ""),
            "The form is malformed: its Content-Type has no boundary.");
  EXPECT_EQ(error_of(kType, ""), "The form is malformed: it does not have its boundary.");
  EXPECT_EQ(error_of(kType, "--xYz"),
            "The form is malformed: a boundary is not followed by a line end.");
  EXPECT_EQ(error_of(kType, part("a", "b")), "The form is malformed: its last part does not end.");
  EXPECT_EQ(error_of(kType, "--xYz\r\nContent-Disposition: form-data; name=a\r\n--xYz--"),
            "The form is malformed: a part has no header.");
  EXPECT_EQ(error_of(kType, "--xYz\r\nA: b\r\n\r\nc\r\n--xYz--"),
            "The form is malformed: a part has no name.");
  std::string many;
  for (int i = 0; i < 65; ++i) many += part("a", "b");
  EXPECT_EQ(error_of(kType, many + "--xYz--"), "The form is malformed: it has more than 64 parts.");
}

}  // namespace
}  // namespace tokamak::protocol
