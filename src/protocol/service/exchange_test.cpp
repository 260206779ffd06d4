#include "protocol/service/exchange_fixture_test.h"

namespace tokamak::protocol {
namespace {

TEST(Exchange, CallsOfToolsStandBesideTheContent) {
  Exchange one(chat_job(false));
  one.write(0, std::string("Yes. ") + kCall + kCall);
  one.finish(0);
  const Json choice = one.choice(0);
  const Json& message = *choice.find("message");
  EXPECT_EQ(*message.find("content"), Json("Yes. "));
  const Json::Array& calls = message.find("tool_calls")->as_array();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(*calls[0].find("type"), Json("function"));
  EXPECT_EQ(*calls[0].find("function"),
            *Json::parse(R"({"name": "f", "arguments": "{\"a\": 1}"})"));
  EXPECT_TRUE(calls[0].find("id")->as_string().starts_with("call_"));
  EXPECT_NE(*calls[0].find("id"), *calls[1].find("id"));
  EXPECT_EQ(*choice.find("finish_reason"), Json("tool_calls"));
}

TEST(Exchange, ContentIsNullOnlyBesideCalls) {
  Exchange call(chat_job(false)), nothing(chat_job(false));
  call.write(0, kCall);
  call.finish(0);
  nothing.finish(0);
  EXPECT_TRUE(call.choice(0).find("message")->find("content")->is_null());
  EXPECT_EQ(*nothing.choice(0).find("message")->find("content"), Json(""));
}

TEST(Exchange, ACallBeginsWithItsNameAndContinuesWithArguments) {
  Exchange one(chat_job(true));
  one.write(0, kCall);
  one.write(0, kCall);
  one.finish(0);
  for (const char* part : {R"("tool_calls": [{"index": 0, "id": "call_)", R"([{"index": 1, "id")",
                           R"("type": "function", "function": {"name": "f", "arguments": ""})",
                           R"([{"index": 1, "function": {"arguments": "{\"a\": 1}"}}])",
                           R"("finish_reason": "tool_calls")"}) {
    EXPECT_NE(one.body.find(part), std::string::npos) << part << " in " << one.body;
  }
}

TEST(Exchange, OnlyTheFirstCallCountsWhereOneIsAskedFor) {
  TextJob job = chat_job(false);
  job.one_call_only = true;
  Exchange one(std::move(job));
  one.write(0, std::string(kCall) + kCall);
  one.finish(0);
  EXPECT_EQ(one.choice(0).find("message")->find("tool_calls")->as_array().size(), 1u);
}

TEST(Exchange, WithoutToolsACallIsText) {
  TextJob job = chat_job(false);
  job.form.tools = nullptr;
  Exchange one(std::move(job));
  one.write(0, kCall);
  one.finish(0);
  EXPECT_EQ(*one.choice(0).find("message")->find("content"), Json(kCall));
  EXPECT_EQ(*one.choice(0).find("finish_reason"), Json("stop"));
}

TEST(Exchange, UsageCountsThePromptOnceAndEveryAnswer) {
  Exchange three(chat_job(false, 3));
  for (const size_t choice : {2u, 0u, 1u}) {
    EXPECT_EQ(three.ends, 0u);
    three.finish(choice);
  }
  EXPECT_EQ(three.ends, 1u);
  EXPECT_EQ(*Json::parse(three.body)->find("usage"), *Json::parse(R"({"prompt_tokens": 5,
      "completion_tokens": 6, "total_tokens": 11, "prompt_tokens_details": {"cached_tokens": 3},
      "completion_tokens_details": {"reasoning_tokens": 0}})"));
}

TEST(Exchange, EveryReasonHasAWord) {
  const std::pair<FinishReason, const char*> words[] = {
      {FinishReason::kEndToken, "stop"},    {FinishReason::kStopString, "stop"},
      {FinishReason::kMaxTokens, "length"}, {FinishReason::kContextFull, "length"},
      {FinishReason::kGrammar, "stop"},
  };
  for (const auto& [reason, word] : words) {
    Exchange one(chat_job(false));
    one.finish(0, reason);
    EXPECT_EQ(*one.choice(0).find("finish_reason"), Json(word));
  }
}

TEST(Exchange, AnErrorEndsAllChoices) {
  Exchange two(chat_job(false, 2));
  EXPECT_FALSE(two.requests[1].callbacks.cancelled());
  two.requests[0].done(Failure(Error{ErrorCode::kDeviceLost, "The device is gone."}));
  EXPECT_EQ(two.status, 500);
  EXPECT_EQ(two.ends, 1u);
  EXPECT_EQ(*Json::parse(two.body), *Json::parse(R"({"error": {"message": "The device is gone.",
      "type": "server_error", "param": null, "code": null}})"));
  EXPECT_TRUE(two.requests[1].callbacks.cancelled());
  two.write(1, "more");
  two.finish(1, FinishReason::kCancelled);
  EXPECT_EQ(two.ends, 1u);
}

TEST(Exchange, WhatTheEngineCancelsIsNoAnswer) {
  Exchange one(chat_job(false));
  one.finish(0, FinishReason::kCancelled);
  EXPECT_EQ(one.status, 503);
}

TEST(Exchange, StopTextsAreLookedForInContentOnly) {
  TextJob job = chat_job(false);
  job.stop = {"end"};
  Exchange one(std::move(job));
  one.write(0, "<think>the end</think>An end of it.");
  EXPECT_TRUE(one.requests[0].callbacks.cancelled()) << "nothing more is needed";
  one.finish(0, FinishReason::kCancelled);
  const Json choice = one.choice(0);
  EXPECT_EQ(*choice.find("message")->find("reasoning_content"), Json("the end"));
  EXPECT_EQ(*choice.find("message")->find("content"), Json("An "));
  EXPECT_EQ(*choice.find("finish_reason"), Json("stop"));
  EXPECT_GT(Json::parse(one.body)
                ->find("usage")
                ->find("completion_tokens_details")
                ->as_object()[0]
                .second.as_integer(),
            2);
}

TEST(Exchange, AStopTextWaitsForTheLeastTokens) {
  TextJob job = chat_job(false);
  job.stop = {"a"};
  job.prompts[0].params.sampling.min_tokens = 3;
  Exchange one(std::move(job));
  for (int i = 0; i < 4; ++i) one.write(0, "a");
  one.finish(0, FinishReason::kCancelled);
  EXPECT_EQ(*one.choice(0).find("message")->find("content"), Json("aa"));
}

TEST(Exchange, TheBestOfSeveralAreShown) {
  TextJob job = chat_job(false, 3);
  job.shown = 1;
  Exchange three(std::move(job));
  const float logprobs[] = {-2, -1, -3};
  for (size_t i = 0; i < 3; ++i) {
    const Logprobs own = {.chosen = {40, logprobs[i]}, .top = {}};
    three.requests[i].callbacks.token(uint32_t(40 + i), &own);
    three.finish(i);
  }
  const Json answer = *Json::parse(three.body);
  EXPECT_EQ(answer.find("choices")->as_array().size(), 1u);
  EXPECT_EQ(*three.choice(0).find("message")->find("content"),
            Json(tokenizer().decode(std::vector<uint32_t>{41})));
  EXPECT_EQ(*answer.find("usage")->find("completion_tokens"), Json(6));
}

TEST(Exchange, AMarkThatIsATokenIsReadAsOne) {
  TextJob job = chat_job(false);
  job.marks = {{300, "<think>", true}, {301, "</think>", true}};
  job.form.token_marks = {"<think>", "</think>"};
  Exchange one(std::move(job));
  one.requests[0].callbacks.token(300, nullptr);
  one.write(0, "why </think> not");
  one.requests[0].callbacks.token(301, nullptr);
  one.write(0, "Yes.");
  one.finish(0);
  EXPECT_EQ(*one.choice(0).find("message")->find("reasoning_content"), Json("why </think> not"));
  EXPECT_EQ(*one.choice(0).find("message")->find("content"), Json("Yes."));
}

}  // namespace
}  // namespace tokamak::protocol
