// Images in requests, of all dialects: the same prompt, tokens and counts, and what is refused.
#include <fstream>
#include <sstream>

#include "base/base64.h"
#include "engine/requests/image_files.h"
#include "protocol/service/service_fixture_test.h"

namespace tokamak::protocol {
namespace {

constexpr const char* kVision = TOKAMAK_TEST_DATA "/vision/qwen3_5_vl_images";
constexpr std::string_view kTower = "wide.png", kOther = "photo420.jpg";
constexpr uint32_t kTowerTokens = 10;

std::string file_of(std::string_view name) {
  std::ifstream file(std::string(TOKAMAK_TEST_DATA "/images/") + std::string(name),
                     std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string base64_of_file(std::string_view name) {
  const std::string bytes = file_of(name);
  EXPECT_FALSE(bytes.empty());
  return base64_of(std::as_bytes(std::span(bytes)));
}

std::string url_of(std::string_view name) {
  return "data:image/png;base64," + base64_of_file(name);
}

std::string image_json(std::string_view url, std::string_view more = "") {
  return fmt::format(R"({{"type": "image_url", "image_url": {{"url": "{}"{}}}}})", url, more);
}

std::string chat_about(std::string_view parts, std::string_view more = "") {
  return fmt::format(
      R"({{"messages": [{{"role": "user", "content": [{}]}}], "max_tokens": 8, "temperature": 0{}}})",
      parts, more);
}
constexpr std::string_view kQuestion = R"({"type": "text", "text": "What is it?"})";

class ImageRequests : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto opened = Engine::open({.model = kVision,
                                .backend = "cpu",
                                .context = 128,
                                .sequences = 2,
                                .image_pixels = 1 << 16});
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = opened->release();
  }
  static void TearDownTestSuite() { delete engine_; }
  void SetUp() override {
    ASSERT_NE(engine_, nullptr);
    auto made = Service::make(*engine_, {.model = "org/vision",
                                         .created = 1700000000,
                                         .unix_seconds = [] { return int64_t{1800000000}; },
                                         .random = [this] { return ++drawn_; }});
    ASSERT_TRUE(made) << made.error().message;
    service_ = *std::move(made);
  }

  Received ask(std::string_view path, std::string_view body) {
    Received received;
    service_->begin({"POST", std::string(path), std::string(body)},
                    {.begin = [&](int status, std::string_view) { received.status = status; },
                     .write = [&](std::string_view text) { received.body += text; },
                     .end = [&] { ++received.ends; }});
    EXPECT_TRUE((*engine_->scheduler())->run());
    EXPECT_EQ(received.ends, 1u);
    return received;
  }
  /// The engine's answer to that prompt, which the template makes of the question and an image.
  static Generation alone(std::string_view file) {
    const std::string bytes = file_of(file);
    const auto image = image_of_bytes(std::as_bytes(std::span(bytes)));
    const auto encoded = engine_->encode_image(*image);
    const auto ids = engine_->encode_with_images(
        "user:<|vision_start|><|image_pad|><|vision_end|>What is it?\nassistant:", {&*encoded, 1});
    EXPECT_TRUE(ids) << ids.error().message;
    Request request{.prompt = *ids, .images = {*encoded}};
    request.params.sampling.temperature = 0;
    request.params.max_tokens = 8;
    const auto said = engine_->generate(std::move(request));
    EXPECT_TRUE(said) << said.error().message;
    return *said;
  }

  static inline Engine* engine_ = nullptr;
  uint64_t drawn_ = 0;
  std::unique_ptr<Service> service_;
};

TEST_F(ImageRequests, OfOneTenantAreNotAtHandForAnother) {
  const std::string bytes = file_of(kTower);
  const auto image = image_of_bytes(std::as_bytes(std::span(bytes)));
  const auto first = engine_->encode_image(*image, "one");
  const auto other = engine_->encode_image(*image, "two");
  const auto again = engine_->encode_image(*image, "one");
  ASSERT_TRUE(first && other && again);
  EXPECT_EQ(*again, *first);
  EXPECT_NE(*other, *first) << "it would be there at once";
}

TEST_F(ImageRequests, AreAnsweredAsASessionDoesInEveryDialect) {
  const Generation expected = alone(kTower);
  const std::string base64 = base64_of_file(kTower);
  const Received chat =
      ask(kChatPath, chat_about(image_json(url_of(kTower), R"(, "detail": "high")") + "," +
                                std::string(kQuestion)));
  ASSERT_EQ(chat.status, 200) << chat.body;
  EXPECT_EQ(content_at(chat.json()), expected.text);
  EXPECT_EQ(at(at(chat.json(), "usage"), "prompt_tokens"), Json(expected.prompt_tokens));

  const Received messages =
      ask("/v1/messages",
          fmt::format(
              R"({{"max_tokens": 8, "temperature": 0, "messages": [{{"role": "user", "content": [
              {{"type": "image", "source": {{"type": "base64", "media_type": "image/png",
                "data": "{}"}}}}, {}]}}]}})",
              base64, kQuestion));
  ASSERT_EQ(messages.status, 200) << messages.body;
  EXPECT_EQ(at(at(messages.json(), "content").as_array().at(0), "text"), Json(expected.text));

  const Received responses = ask(
      "/v1/responses",
      fmt::format(
          R"({{"max_output_tokens": 8, "temperature": 0, "input": [{{"role": "user", "content": [
              {{"type": "input_image", "image_url": "{}"}},
              {{"type": "input_text", "text": "What is it?"}}]}}]}})",
          url_of(kTower)));
  ASSERT_EQ(responses.status, 200) << responses.body;
  EXPECT_EQ(at(at(responses.json(), "usage"), "input_tokens"), Json(expected.prompt_tokens));
  EXPECT_NE(responses.body.find(Json(expected.text).dump()), std::string::npos);

  const std::string options = R"("stream": false, "options": {"temperature": 0, "num_predict": 8})";
  const Received ollama =
      ask("/api/chat", fmt::format(R"({{{}, "messages": [{{"role": "user", "content": "What is it?",
                      "images": ["{}"]}}]}})",
                                   options, base64));
  ASSERT_EQ(ollama.status, 200) << ollama.body;
  EXPECT_EQ(at(at(ollama.json(), "message"), "content"), Json(expected.text));
  const Received generate =
      ask("/api/generate",
          fmt::format(R"({{{}, "prompt": "What is it?", "images": ["{}"]}})", options, base64));
  ASSERT_EQ(generate.status, 200) << generate.body;
  EXPECT_EQ(at(generate.json(), "response"), Json(expected.text));
}

TEST_F(ImageRequests, GiveEachImageItsPlace) {
  const auto logprobs_of = [&](std::string_view first, std::string_view second) {
    const Received answer =
        ask(kChatPath, chat_about(image_json(url_of(first)) + "," + std::string(kQuestion) + "," +
                                      image_json(url_of(second)),
                                  R"(, "logprobs": true)"));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return at(choice_at(answer.json(), 0), "logprobs").dump();
  };
  const std::string there = logprobs_of(kTower, kOther);
  EXPECT_EQ(there, logprobs_of(kTower, kOther));
  EXPECT_NE(there, logprobs_of(kOther, kTower));
}

TEST_F(ImageRequests, AreCountedWithTheirTokens) {
  const auto count = [&](std::string_view parts) {
    const Received counted =
        ask("/v1/messages/count_tokens",
            fmt::format(R"({{"messages": [{{"role": "user", "content": [{}]}}]}})", parts));
    EXPECT_EQ(counted.status, 200) << counted.body;
    return at(counted.json(), "input_tokens").as_integer();
  };
  const std::string block = fmt::format(
      R"({{"type": "image", "source": {{"type": "base64", "media_type": "image/png", "data": "{}"}}}})",
      base64_of_file(kTower));
  EXPECT_EQ(count(block + "," + std::string(kQuestion)), count(kQuestion) + kTowerTokens + 2);
}

TEST_F(ImageRequests, AreReadInEveryWayThatProgramsWriteBase64) {
  const std::string base64 = base64_of_file(kTower);
  std::string lines, bare = base64.substr(0, base64.find('=')), for_urls = bare, escaped;
  for (size_t i = 0; i < base64.size(); i += 76) lines += base64.substr(i, 76) + "\\r\\n";
  for (char& c : for_urls) c = c == '+' ? '-' : c == '/' ? '_' : c;
  for (const char c : base64) escaped += c == '+' ? "%2B" : std::string(1, c);
  const auto tokens = [&](const std::string& url) {
    const Received answer =
        ask(kChatPath, chat_about(image_json(url) + "," + std::string(kQuestion)));
    EXPECT_EQ(answer.status, 200) << url.substr(0, 60) << ": " << answer.body;
    return answer.status != 200 ? Json() : at(at(answer.json(), "usage"), "prompt_tokens");
  };
  const Json expected = tokens("data:image/png;base64," + base64);
  for (const std::string& url :
       {"data:image/png;base64," + lines, "data:image/png;base64, " + base64 + "\\n",
        "data:image/png;base64," + bare, "data:image/png;base64," + for_urls,
        "data:image/png;base64," + escaped, "DATA:image/PNG;name=a.png;BASE64," + base64,
        " data:;base64," + base64, "data:image/png; base64," + base64, base64}) {
    EXPECT_EQ(tokens(url), expected);
  }
  const Received ollama =
      ask("/api/chat", fmt::format(R"({{"stream": false, "messages": [{{"role": "user",
          "content": "What is it?", "images": ["{}"]}}], "options": {{"num_predict": 1}}}})",
                                   lines));
  EXPECT_EQ(at(ollama.json(), "prompt_eval_count"), expected);
}

TEST_F(ImageRequests, StandInResultsOfTools) {
  const std::string base64 = base64_of_file(kTower);
  const auto count = [&](std::string_view more) {
    const Received counted = ask(
        "/v1/messages/count_tokens",
        fmt::format(
            R"({{"messages": [{{"role": "user", "content": "a"}}, {{"role": "assistant", "content": [
                {{"type": "tool_use", "id": "t1", "name": "Read", "input": []}}]}},
                {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "t1",
                  "content": [{{"type": "text", "text": "Here"}}{}]}}]}}]}})",
            more));
    EXPECT_EQ(counted.status, 200) << counted.body;
    return at(counted.json(), "input_tokens").as_integer();
  };
  const std::string image = fmt::format(
      R"(, {{"type": "image", "source": {{"type": "base64", "media_type": "image/png", "data": "{}"}}}})",
      base64);
  EXPECT_GE(count(image), count("") + kTowerTokens);
  const Received chat = ask(kChatPath, fmt::format(R"({{"max_tokens": 1, "messages": [
          {{"role": "tool", "tool_call_id": "1", "content": [{}]}}]}})",
                                                   image_json(url_of(kTower))));
  EXPECT_EQ(chat.status, 200) << chat.body;
  const Received responses =
      ask("/v1/responses", fmt::format(R"({{"max_output_tokens": 1, "input": [
          {{"type": "function_call", "call_id": "1", "name": "f", "arguments": ""}},
          {{"type": "function_call_output", "call_id": "1", "output": [
            {{"type": "input_text", "text": "a"}},
            {{"type": "input_image", "image_url": "{}", "detail": "original"}}]}}]}})",
                                       url_of(kTower)));
  EXPECT_EQ(responses.status, 200) << responses.body;
  const Received ollama = ask(
      "/api/chat", fmt::format(R"({{"stream": false, "options": {{"num_predict": 1}}, "messages": [
          {{"role": "tool", "tool_name": "f", "content": "b", "images": ["{}"]}}]}})",
                               base64));
  EXPECT_EQ(ollama.status, 200) << ollama.body;
}

TEST_F(ImageRequests, AreNotMadeByWhatAMessageSpells) {
  const std::string spelled = R"({"type": "text", "text": "<|image_pad|>"})";
  const Received answer = ask(kChatPath, chat_about(spelled + "," + image_json(url_of(kTower))));
  EXPECT_EQ(answer.status, 200) << answer.body;
}

TEST_F(ImageRequests, ThatAreWrongSayWhatIs) {
  std::string many = image_json(url_of(kTower));
  for (uint32_t i = 0; i < 16; ++i) many += "," + image_json(url_of(kTower));
  const std::pair<std::string, std::string> cases[] = {
      {image_json("https://example.com/a.png"),
       "messages[0].content[0].image_url.url is \"https://example.com/a.png\", but this server "
       "fetches nothing: send the image itself, as \"data:image/png;base64,...\"."},
      {image_json("HTTP://127.0.0.1/"),
       "messages[0].content[0].image_url.url is \"HTTP://127.0.0.1/\", but this server fetches "
       "nothing: send the image itself, as \"data:image/png;base64,...\"."},
      {image_json("file:///etc/passwd"),
       "messages[0].content[0].image_url.url is \"file:///etc/passwd\", expected an image as "
       "\"data:image/png;base64,...\"."},
      {image_json("data:image/png,abc"),
       "messages[0].content[0].image_url.url is \"data:image/png,abc\", expected an image as "
       "\"data:image/png;base64,...\"."},
      {image_json("data:image/png;base64,a"),
       "messages[0].content[0].image_url.url is \"data:image/png;base64,a\", which is no image in "
       "base64."},
      {image_json("data:image/png;base64,QUJD"),
       "messages[0].content[0]: The file is not an image that is read here, expected PNG, JPEG or "
       "WebP; convert it first."},
      {image_json(url_of(kTower), R"(, "detail": "sharp")"),
       "messages[0].content[0].image_url.detail is \"sharp\", expected auto, low, high or "
       "original."},
      {R"({"type": "image_url"})",
       "messages[0].content[0].image_url is missing or no text; files are not stored here."},
      {many, "messages has more than 16 images, which is the most of a request."},
  };
  for (const auto& [parts, message] : cases) {
    const Received answer = ask(kChatPath, chat_about(parts));
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.error(), message);
  }
  const Received system =
      ask(kChatPath, fmt::format(R"({{"messages": [{{"role": "system", "content": [{}]}}]}})",
                                 image_json(url_of(kTower))));
  EXPECT_EQ(system.error(),
            "messages[0].content has an image, which only messages of the user and results of "
            "tools have.");
  const Received raw = ask("/api/generate", R"({"prompt": "a", "raw": true, "images": ["QUJD"]})");
  EXPECT_EQ(at(raw.json(), "error"),
            Json("images has some, but a raw prompt, or one with a suffix, has no place for them: "
                 "leave raw and suffix out."));
}

TEST_F(ImageRequests, ThatDoNotFitAreRefusedBeforeTheTowerRuns) {
  std::string parts = image_json(url_of(kOther));
  for (uint32_t i = 0; i < 15; ++i) parts += "," + image_json(url_of(kOther));
  const Received answer = ask(kChatPath, chat_about(parts));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.error().find("images, but the context has 128 positions."), std::string::npos)
      << answer.error();
}

TEST_F(ImageRequests, AreDecodedBeforeTheyAreBegun) {
  AnswerGrammars grammars;
  const auto prepared = [&](std::string_view parts) {
    return service_->prepare({"POST", std::string(kChatPath), chat_about(parts)}, grammars);
  };
  EXPECT_TRUE(prepared(image_json("data:image/png;base64,QUJD")).is_answered());
  const PreparedRequest right = prepared(image_json(url_of(kTower)));
  ASSERT_FALSE(right.is_answered());
  const TextJob& job = std::get<PreparedText>(*right.work).job;
  ASSERT_EQ(job.images.size(), 1u);
  EXPECT_EQ(job.images[0].tokens, kTowerTokens);
  EXPECT_TRUE(job.lease);
  EXPECT_EQ(job.prompts[0].params.max_tokens, 8u);
}

TEST_F(ServiceTest, AnswersThatAModelReadsTextOnly) {
  const Received answer = ask(kChatPath, chat_about(image_json(url_of(kTower))));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.error().find("The model was opened for text only"), std::string::npos)
      << answer.error();
  EXPECT_EQ(answer.error().find("models/storyteller"), std::string::npos)
      << "where the model is on the server's disk is nobody's business";
}

}  // namespace
}  // namespace tokamak::protocol
