#include "protocol/requests/requested_model.h"

#include <gtest/gtest.h>

#include <limits>

namespace tokamak::protocol {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

const std::vector<ModelNames> kModels = {{"a", "small"}, {"org/b"}};

HttpRequest post(std::string path, std::string body) {
  return {.method = "POST", .path = std::move(path), .body = std::move(body)};
}

std::optional<size_t> model_of(const HttpRequest& request) {
  const auto found = requested_model(request, kModels);
  EXPECT_TRUE(found) << found.error().message;
  return found ? found->model : std::nullopt;
}

TEST(MemberText, IsThatOfTheObjectItself) {
  EXPECT_EQ(member_text(R"({"model": "a"})", "model"), R"("a")");
  EXPECT_EQ(
      member_text(R"({"x": {"model": "b", "y": [{"model": 1}]}, "model" : [1, {}] })", "model"),
      "[1, {}]");
  EXPECT_EQ(member_text(R"({"x": "\"model\": \\", "y": "{", "model":-1.5})", "model"), "-1.5");
  EXPECT_EQ(member_text(R"({"x": "model", "y": 2})", "model"), "");
  EXPECT_EQ(member_text(R"({"model": 1, "model": 2})", "model"), "2") << "as in Python";
}

TEST(MemberText, IsNothingInWhatIsNoObject) {
  for (const char* text : {"", "[\"model\", 1]", "{", "{\"model", "{\"model\": ", "{\"model\": \"a",
                           "}}\"model\": 1}", "{\"model\": \"a\\"}) {
    EXPECT_EQ(member_text(text, "model"), "") << text;
  }
}

TEST(RequestedModel, IsFoundByAnyOfItsNames) {
  EXPECT_EQ(model_of(post("/v1/chat/completions", R"({"model": "a"})")), 0u);
  EXPECT_EQ(model_of(post("/v1/messages", R"({"model": "small"})")), 0u);
  EXPECT_EQ(model_of(post("/api/chat", R"({"model": "org\/b:latest"})")), 1u);
  EXPECT_EQ(model_of(post("/tokenize", R"({"model": "org/b"})")), 1u);
  EXPECT_EQ(model_of({.method = "GET", .path = "/v1/models/org%2Fb"}), 1u);
  HttpRequest form =
      post("/v1/audio/transcriptions",
           "--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\norg/b\r\n--x--\r\n");
  form.content_type = "multipart/form-data; boundary=x";
  EXPECT_EQ(model_of(form), 1u);
}

TEST(RequestedModel, IsNoneWhereNothingNamesOne) {
  for (const char* body :
       {"{}", R"({"model": null})", R"({"model": ""})", R"({"model": 7})", "x"}) {
    EXPECT_EQ(model_of(post("/v1/completions", body)), std::nullopt) << body;
  }
}

TEST(RequestedModel, ReportsWhichNamesThereAre) {
  const auto found = requested_model(post("/v1/completions", R"({"model": "c"})"), kModels);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().status, 404);
  EXPECT_EQ(found.error().code, "model_not_found");
  EXPECT_EQ(found.error().message, R"(There is no model "c", but "a", "small", "org/b".)");
}

TEST(RequestedModel, LeavesWhatOneModelRefusesToItsService) {
  const auto found =
      requested_model(post("/tokenize", R"({"model": "c"})"), std::span(kModels).first(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->model, std::nullopt);
}

TEST(RequestedModel, RecognizesPathsAndMethods) {
  EXPECT_EQ(requested_model(post("/v1/none", "{}"), kModels).error().status, 404);
  EXPECT_EQ(requested_model(post("/v1/models", "{}"), kModels).error().allow, "GET");
}

TEST(KeepAlive, IsANumberOrADuration) {
  const auto seconds = [](const Json& value) {
    const auto read = read_keep_alive(value);
    return read && *read ? **read : -1;
  };
  EXPECT_EQ(seconds(300), 300);
  EXPECT_EQ(seconds(0), 0);
  EXPECT_EQ(seconds(-1), kForever);
  EXPECT_EQ(seconds("5m"), 300);
  EXPECT_EQ(seconds("1h30m0.5s"), 5400.5);
  EXPECT_EQ(seconds("250ms"), 0.25);
  EXPECT_EQ(seconds("0"), 0);
  EXPECT_EQ(seconds("90"), 90);
  EXPECT_EQ(seconds("-1m"), kForever);
  constexpr double kYear = 365 * 86400.0;
  EXPECT_EQ(seconds(1e18), kYear) << "a clock of nanoseconds has no more";
  EXPECT_EQ(seconds("9999999999h"), kYear);
  for (const char* wrong : {"", "-", "x", "5 m", "m", "5d", "1m30", "nan"}) {
    EXPECT_FALSE(read_keep_alive(wrong)) << wrong;
  }
  EXPECT_FALSE(read_keep_alive(true));
}

TEST(KeepAlive, IsOfOllamasRequestsOnly) {
  const std::string body = R"({"model": "a", "keep_alive": 0})";
  EXPECT_EQ(requested_model(post("/api/embed", body), kModels)->keep_seconds, 0);
  EXPECT_EQ(requested_model(post("/v1/completions", body), kModels)->keep_seconds, std::nullopt);
  const auto wrong = requested_model(post("/api/chat", R"({"keep_alive": "soon"})"), kModels);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().param, "keep_alive");
}

}  // namespace
}  // namespace tokamak::protocol
