// How many sequences a request may be, and who lets them in.
#include "protocol/service/service_fixture_test.h"

namespace tokamak::protocol {
namespace {

std::string prompts_body(int prompts, int choices) {
  std::string list;
  for (int i = 0; i < prompts; ++i) list += i == 0 ? "\"a\"" : ", \"a\"";
  return fmt::format(R"({{"prompt": [{}], "n": {}, "max_tokens": 1}})", list, choices);
}

TEST_F(ServiceTest, RefusesMoreAnswersThanARequestMayHave) {
  for (const auto& [prompts, choices] :
       {std::pair(2, 65), std::pair(128, 2), std::pair(128, 128)}) {
    const Received answer = ask(kTextPath, prompts_body(prompts, choices));
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.error(),
              fmt::format("{} answers to each of {} prompts are {}, expected at most 128 of a "
                          "request.",
                          choices, prompts, prompts * choices));
    EXPECT_EQ(*at(answer.json(), "error").find("param"), Json("n"));
  }
  EXPECT_EQ(ask(kTextPath, prompts_body(129, 1)).error(),
            "prompt has 129 entries, expected at most 128.");
  EXPECT_EQ(ask(kTextPath, prompts_body(3, 2)).json().find("choices")->as_array().size(), 6u);
  const Received best =
      ask(kTextPath, R"({"prompt": ["a", "b"], "n": 1, "best_of": 65, "max_tokens": 1})");
  EXPECT_EQ(best.status, 400) << "what is made counts, not what is shown";
}

TEST_F(ServiceTest, AsksOnceWhetherItsSequencesMayCome) {
  std::vector<uint32_t> asked;
  HttpRequest request = {"POST", std::string(kTextPath), prompts_body(3, 4)};
  request.admit = [&](uint32_t sequences) -> Answer<void> {
    asked.push_back(sequences);
    return Refusal(ApiError{.status = 429, .message = "They are too many."});
  };
  Received received;
  service_->begin(request, sink_of(received));
  EXPECT_EQ(asked, std::vector<uint32_t>{12});
  EXPECT_EQ(received.status, 429);
  EXPECT_EQ(received.error(), "They are too many.");
  asked.clear();
  request.body = chat_body(R"(, "n": 2)");
  request.path = kChatPath;
  Received chat;
  service_->begin(request, sink_of(chat));
  EXPECT_EQ(asked, std::vector<uint32_t>{2});
}

TEST_F(ServiceTest, TakesTurnsByClientsWhateverSaltsTheySend) {
  AnswerGrammars grammars;
  const auto prepared = [&](const char* tenant, const char* salt) {
    HttpRequest request = {"POST", std::string(kTextPath),
                           fmt::format(R"({{"prompt": "a", "cache_salt": "{}"}})", salt)};
    request.tenant = tenant;
    const PreparedRequest made = service_->prepare(std::move(request), grammars);
    return std::get<PreparedText>(*made.work).job.prompts.at(0);
  };
  const Request one = prepared("key 1", "a"), other = prepared("key 1", "b");
  EXPECT_NE(one.tenant, other.tenant);
  EXPECT_EQ(one.client, other.client);
  EXPECT_NE(one.client, prepared("key 2", "a").client);
  EXPECT_NE(prepared("", "a").client, "") << "without keys all are one client";
}

TEST_F(ServiceTest, RefusesWhatNeedsNoDeviceBeforeItIsBegun) {
  AnswerGrammars grammars;
  const auto is_answered = [&](HttpRequest request) {
    return service_->prepare(std::move(request), grammars).is_answered();
  };
  for (const std::string& body :
       {prompts_body(2, 100), std::string("{"),
        fmt::format(R"({{"prompt": "{}"}})", std::string(4 * kContext, 'x'))}) {
    EXPECT_TRUE(is_answered({"POST", std::string(kTextPath), body})) << body;
  }
  EXPECT_TRUE(is_answered({"GET", "/v1/models", ""}));
  EXPECT_FALSE(is_answered({"POST", std::string(kTextPath), text_body("")}));
}

}  // namespace
}  // namespace tokamak::protocol
