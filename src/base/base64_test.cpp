#include "base/base64.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

std::string encoded(std::string_view text) {
  return base64_of(std::as_bytes(std::span(text)));
}

std::optional<std::string> decoded(std::string_view text) {
  const auto bytes = bytes_of_base64(text);
  if (!bytes) return std::nullopt;
  std::string out;
  for (const std::byte byte : *bytes) out += char(byte);
  return out;
}

TEST(Base64, WritesAndReadsTheVectorsOfTheStandard) {  // RFC 4648, section 10
  constexpr std::pair<std::string_view, std::string_view> kVectors[] = {{"", ""},
                                                                        {"f", "Zg=="},
                                                                        {"fo", "Zm8="},
                                                                        {"foo", "Zm9v"},
                                                                        {"foob", "Zm9vYg=="},
                                                                        {"fooba", "Zm9vYmE="},
                                                                        {"foobar", "Zm9vYmFy"},
                                                                        {"\xfb\xff", "+/8="}};
  for (const auto& [plain, text] : kVectors) {
    EXPECT_EQ(encoded(plain), text);
    EXPECT_EQ(decoded(text), plain);
  }
}

TEST(Base64, RefusesWhatItWouldNotWrite) {
  for (const std::string_view text : {"Zg", "Zg=", "Zg==Zg==", "Zm9v=", "Z===", "====", "Zh==",
                                      "Zm9=", "Zm9v\n", "Zm 9v", "Zm_v", "=Zg="}) {
    EXPECT_EQ(decoded(text), std::nullopt) << text;
  }
}

std::optional<std::string> loosely_decoded(std::string_view text) {
  const auto bytes = bytes_of_loose_base64(text);
  if (!bytes) return std::nullopt;
  std::string out;
  for (const std::byte byte : *bytes) out += char(byte);
  return out;
}

TEST(Base64, IsReadLooselyAsOtherProgramsWriteIt) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"", ""},
                                                                 {"Zg==", "f"},
                                                                 {"Zg", "f"},
                                                                 {"Zm8", "fo"},
                                                                 {"Zm8=", "fo"},
                                                                 {" Zm9v\r\n", "foo"},
                                                                 {"Zm9v\nYmFy\n", "foobar"},
                                                                 {"Z g = =", "f"},
                                                                 {"-_8", "\xfb\xff"},
                                                                 {"+/8=", "\xfb\xff"},
                                                                 {"Zh==", "f"},
                                                                 {"Zm9vYg==\n", "foob"}};
  for (const auto& [text, plain] : cases) EXPECT_EQ(loosely_decoded(text), plain) << text;
  for (const std::string_view text :
       {"Z", "Zm9vZ", "Zg=", "Zm9v=", "Z===", "Zg===", "=Zg", "Zg==Zg==", "Zm!v", "Zm\vv"}) {
    EXPECT_EQ(loosely_decoded(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tokamak
