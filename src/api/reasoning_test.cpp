// Reasoning apart from the text, in C++ and in C.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tokamak/c.h"
#include "tokamak/tokamak.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

/// The storyteller with a template that opens reasoning, which the model itself never ends, unless
/// the message has done so.
class Reasoning : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / folder_name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const auto& file : fs::directory_iterator(TOKAMAK_SOURCE_DIR "/models/storyteller")) {
      fs::create_symlink(fs::absolute(file.path()), folder_ / file.path().filename());
    }
    fs::remove(folder_ / "chat_template.jinja");
    std::ofstream(folder_ / "chat_template.jinja") << "{{ messages[0].content }}<think>\n"
                                                      "{% if done %}</think>{% endif %}";
    options_.model = folder_.string();
    options_.backend = "cpu";
    options_.context = 96;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string folder_name() {
    return std::string("tokamak_") + testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static TextRequest hello() {
    return {.messages = {{"user", "Once upon a time"}},
            .max_tokens = 12,
            .temperature = 0,
            .separate_reasoning = true};
  }
  static Generation run(Model& model, const TextRequest& request) {
    auto stream = model.start(request);
    EXPECT_TRUE(stream) << stream.error().message;
    std::string text, reasoning;
    size_t tokens = 0;
    while (const auto piece = stream->next()) {
      text += piece->text;
      reasoning += piece->reasoning;
      tokens += piece->tokens.size();
    }
    auto result = stream->result();
    EXPECT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->text, text);
    EXPECT_EQ(result->reasoning, reasoning);
    EXPECT_EQ(result->ids.size(), tokens);
    return *std::move(result);
  }

  fs::path folder_;
  ModelOptions options_;
};

TEST_F(Reasoning, ComesApartWhereItIsAskedFor) {
  auto model = Model::open(options_);
  ASSERT_TRUE(model) << model.error().message;
  TextRequest request = hello();
  const Generation apart = run(*model, request);
  EXPECT_EQ(apart.text, "");
  EXPECT_GT(apart.reasoning.size(), 10u);
  EXPECT_EQ(apart.finish, FinishReason::kMaxTokens);
  request.stop = {apart.reasoning.substr(3, 5)};
  EXPECT_EQ(run(*model, request).reasoning, apart.reasoning) << "stop texts are of the answer";
  request = hello();
  request.separate_reasoning = false;
  const Generation whole = run(*model, request);
  EXPECT_EQ(whole.ids, apart.ids);
  EXPECT_NE(whole.text.find(apart.reasoning), std::string::npos) << whole.text;
  EXPECT_EQ(whole.reasoning, "");
}

TEST_F(Reasoning, IsNotThereWhereItIsOverOrAGrammarLeavesNoRoom) {
  auto model = Model::open(options_);
  ASSERT_TRUE(model) << model.error().message;
  TextRequest request = hello();
  request.chat_variables = R"({"done": true})";
  const Generation answer = run(*model, request);
  EXPECT_EQ(answer.reasoning, "");
  EXPECT_GT(answer.text.size(), 10u);
  const std::string stop = answer.text.substr(4, 6);
  request.stop = {stop};
  const Generation stopped = run(*model, request);
  EXPECT_EQ(stopped.text, answer.text.substr(0, answer.text.find(stop)));
  EXPECT_EQ(stopped.finish, FinishReason::kStopString);
  EXPECT_EQ(stopped.stop, stop);
  EXPECT_LT(stopped.ids.size(), answer.ids.size());
  request = hello();
  request.choices = {"a fox"};
  const Generation held = run(*model, request);
  EXPECT_EQ(held.text, "a fox");
  EXPECT_EQ(held.reasoning, "");
}

TEST_F(Reasoning, ComesApartInC) {
  auto model = Model::open(options_);
  ASSERT_TRUE(model) << model.error().message;
  const Generation expected = run(*model, hello());
  tokamak_options* options = tokamak_options_new();
  tokamak_options_set(options, "model", folder_.c_str(), nullptr);
  tokamak_options_set(options, "backend", "cpu", nullptr);
  tokamak_options_set(options, "context", "96", nullptr);
  tokamak_model* opened = tokamak_model_open(options, nullptr);
  ASSERT_NE(opened, nullptr);
  tokamak_request* request = tokamak_request_new();
  tokamak_request_add_message(request, "user", "Once upon a time", nullptr);
  for (const auto& [name, value] : {std::pair("temperature", "0"), std::pair("max_tokens", "12"),
                                    std::pair("separate_reasoning", "true")}) {
    EXPECT_TRUE(tokamak_request_set(request, name, value, nullptr)) << name;
  }
  tokamak_stream* stream = tokamak_model_start(opened, request, nullptr);
  ASSERT_NE(stream, nullptr);
  tokamak_piece piece = {};
  piece.size = sizeof piece;
  std::string reasoning;
  while (tokamak_stream_next(stream, -1, &piece) == TOKAMAK_STREAM_PIECE) {
    reasoning.append(piece.reasoning, piece.reasoning_bytes);
  }
  tokamak_result result = {};
  result.size = sizeof result;
  ASSERT_TRUE(tokamak_stream_result(stream, &result, nullptr));
  EXPECT_EQ(reasoning, expected.reasoning);
  EXPECT_EQ(std::string(result.reasoning, result.reasoning_bytes), expected.reasoning);
  EXPECT_STREQ(result.text, "");
  tokamak_stream_free(stream);
  tokamak_request_free(request);
  tokamak_model_free(opened);
  tokamak_options_free(options);
}

}  // namespace
}  // namespace tokamak
