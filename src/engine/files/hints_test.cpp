#include "engine/files/hints.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

std::string refused(std::string_view text) {
  const auto hints = read_hints(*Json::parse(text), "m/tokamak.json");
  EXPECT_FALSE(hints) << text;
  if (hints) return "";
  EXPECT_EQ(hints.error().code, ErrorCode::kInvalidInput);
  return hints.error().message;
}

TEST(Hints, AreNoneWithoutAFile) {
  const auto hints = read_hints(std::nullopt, "tokamak.json");
  ASSERT_TRUE(hints);
  EXPECT_FALSE(hints->present || hints->kv || !hints->kernels.empty());
}

TEST(Hints, AreReadInTheOrderOfTheFile) {
  const auto hints = read_hints(*Json::parse(R"({"kv": "f32", "kernels": {"rope": "rope.wgsl",
      "linear": ["linear.wgsl.matmul", "linear.wgsl.any"]}})"),
                                "tokamak.json");
  ASSERT_TRUE(hints) << hints.error().message;
  EXPECT_EQ(hints->kv, "f32");
  const auto [first, last] = hints->kernels.equal_range("linear");
  std::vector<std::string> linear;
  for (auto entry = first; entry != last; ++entry) linear.push_back(entry->second);
  EXPECT_EQ(linear, (std::vector<std::string>{"linear.wgsl.matmul", "linear.wgsl.any"}));
  EXPECT_EQ(hints->kernels.find("rope")->second, "rope.wgsl");
}

TEST(Hints, RefuseEveryMistakeInWords) {
  EXPECT_EQ(refused(R"({"kvv": "f16"})"),
            "m/tokamak.json: \"kvv\" is not known here; known are kv and kernels.");
  EXPECT_EQ(
      refused(R"({"kernel": {}})"),
      "m/tokamak.json: \"kernel\" is not known here (did you mean kernels?); known are kv and "
      "kernels.");
  EXPECT_EQ(refused(R"({"kv": "f32", "kv": "f16"})"), "m/tokamak.json: \"kv\" occurs twice.");
  EXPECT_EQ(refused(R"({"kv": 16})"),
            "m/tokamak.json: kv is an integer, expected \"f32\", \"f16\" or \"q8\".");
  EXPECT_EQ(refused(R"({"kv": "bf16"})"),
            "m/tokamak.json: kv is \"bf16\", expected \"f32\", \"f16\" or \"q8\".");
  EXPECT_EQ(refused("[]"), "m/tokamak.json: The document is an array, expected an object.");
  EXPECT_EQ(refused(R"({"kernels": "any"})"),
            "m/tokamak.json: kernels is a string, expected an object.");
  EXPECT_EQ(refused(R"({"kernels": {"linear": 3}})"),
            "m/tokamak.json: kernels.linear is an integer, expected the name of a kernel or a list "
            "of names.");
  EXPECT_EQ(refused(R"({"kernels": {"linear": []}})"),
            "m/tokamak.json: kernels.linear has 0 entries, expected 1 to 64.");
  EXPECT_EQ(refused(R"({"kernels": {"rope": "rope.wgsl", "rope": "rope.wgsl"}})"),
            "m/tokamak.json: kernels.rope occurs twice.");
  EXPECT_NE(refused(R"({"kernels": {"linaer": "x"}})")
                .find("kernels: There is no op \"linaer\" (did you mean linear?); there are embed"),
            std::string::npos);
  EXPECT_NE(refused(R"({"kernels": {"rope": "rope.wglsl"}})")
                .find("kernels: rope has no variant \"rope.wglsl\" (did you mean rope.wgsl?)"),
            std::string::npos);
  EXPECT_NE(refused(R"({"kernels": {"rope": "linear.wgsl.any"}})").find("rope has no variant"),
            std::string::npos);
}

}  // namespace
}  // namespace tokamak
