#include "protocol/service/service_fixture_test.h"

namespace tokamak::protocol {
namespace {

TEST_F(ServiceTest, AChatIsAnsweredInOpenAIsShape) {
  const Received received = ask(kChatPath, chat_body(R"(, "temperature": 0)"));
  EXPECT_EQ(received.status, 200) << received.body;
  EXPECT_EQ(received.content_type, "application/json");
  const Json answer = received.json();
  EXPECT_EQ(at(answer, "object"), Json("chat.completion"));
  EXPECT_TRUE(at(answer, "id").as_string().starts_with("chatcmpl-"));
  EXPECT_EQ(at(answer, "created"), Json(1800000000));
  EXPECT_EQ(at(answer, "model"), Json("org/storyteller"));
  EXPECT_TRUE(at(answer, "system_fingerprint").as_string().starts_with("fp_"));
  EXPECT_EQ(at(at(choice_at(answer, 0), "message"), "role"), Json("assistant"));
  EXPECT_FALSE(content_at(answer).empty());
  EXPECT_EQ(finish_at(answer, 0), "length");
  const Json& usage = at(answer, "usage");
  EXPECT_EQ(at(usage, "completion_tokens"), Json(12));
  const int64_t prompt = at(usage, "prompt_tokens").as_integer();
  EXPECT_EQ(at(usage, "total_tokens"), Json(prompt + 12));
  EXPECT_TRUE(at(at(usage, "prompt_tokens_details"), "cached_tokens").is_integer());

  const Received rendered = ask("/apply-template", chat_body(""));
  Json body;
  body.set("content", at(rendered.json(), "prompt"));
  body.set("parse_special", true);
  const Json tokens = ask("/tokenize", body.dump()).json();
  EXPECT_EQ(int64_t(at(tokens, "tokens").as_array().size()), prompt);
}

TEST_F(ServiceTest, TheStreamIsTheSameAnswer) {
  for (const char* more : {R"(, "temperature": 0)", R"(, "seed": 5)",
                           R"(, "temperature": 0, "logprobs": true, "top_logprobs": 2)"}) {
    const Json whole = ask(kChatPath, chat_body(more)).json();
    const Received received =
        ask(kChatPath,
            chat_body(fmt::format(
                R"({}, "stream": true, "stream_options": {{"include_usage": true}})", more)));
    const std::vector<Json> chunks = events(received);
    ASSERT_GE(chunks.size(), 4u);
    std::string content;
    Json::Array logprobs;
    for (const Json& chunk : chunks) {
      EXPECT_EQ(at(chunk, "object"), Json("chat.completion.chunk"));
      EXPECT_EQ(at(chunk, "id"), at(chunks[0], "id"));
      if (&chunk == &chunks.back()) break;
      const Json& choice = choice_at(chunk, 0);
      const Json* piece = at(choice, "delta").find("content");
      if (piece != nullptr) content += piece->as_string();
      const Json& of = at(choice, "logprobs");
      if (!of.is_null())
        std::ranges::copy(at(of, "content").as_array(), std::back_inserter(logprobs));
      const bool is_last = &chunk == &chunks[chunks.size() - 2];
      EXPECT_EQ(at(choice, "finish_reason"), is_last ? Json("length") : Json());
    }
    EXPECT_EQ(at(choice_at(chunks[0], 0), "delta"),
              *Json::parse(R"({"role": "assistant", "content": ""})"));
    EXPECT_EQ(content, content_at(whole));
    const Json& expected = at(choice_at(whole, 0), "logprobs");
    if (expected.is_null()) {
      EXPECT_TRUE(logprobs.empty());
    } else {
      EXPECT_EQ(Json(logprobs), at(expected, "content"));
      EXPECT_EQ(logprobs.size(), 12u);
    }
    EXPECT_TRUE(at(chunks.back(), "choices").as_array().empty());
    for (const char* count : {"prompt_tokens", "completion_tokens", "total_tokens"}) {
      EXPECT_EQ(at(at(chunks.back(), "usage"), count), at(at(whole, "usage"), count));
    }
  }
}

TEST_F(ServiceTest, TheFirstEventComesWithTheFirstToken) {
  Received received;
  const ExchangeId id = begin(received, kChatPath, chat_body(R"(, "stream": true)"));
  EXPECT_EQ(received.status, 0) << "it may still become an error";
  Scheduler* scheduler = *engine_->scheduler();
  while (received.body.empty()) {
    ASSERT_TRUE(*scheduler->step());
    ASSERT_TRUE(scheduler->wait());
  }
  EXPECT_NE(received.body.find(R"("delta": {"role": "assistant", "content": ""})"),
            std::string::npos);
  EXPECT_EQ(service_->running(), 1u);
  const std::string before = received.body;
  service_->cancel(id);
  service_->cancel(id);
  run();
  EXPECT_EQ(received.body, before) << "who left is told nothing more";
  EXPECT_EQ(received.ends, 0u);
  EXPECT_EQ(service_->running(), 0u);
  EXPECT_EQ((*engine_->scheduler())->stats().running, 0u);
}

TEST_F(ServiceTest, WhatIsOnItsWayEndsWithTheService) {
  Received received;
  begin(received, kChatPath, chat_body(R"(, "stream": true)"));
  service_.reset();
  run();
  EXPECT_EQ(received.status, 0);
}

TEST_F(ServiceTest, AnErrorInAStreamIsItsLastEvent) {
  Received received;
  begin(received, kChatPath, chat_body(R"(, "stream": true)"));
  Scheduler* scheduler = *engine_->scheduler();
  while (received.body.empty()) {
    ASSERT_TRUE(*scheduler->step());
    ASSERT_TRUE(scheduler->wait());
  }
  ASSERT_TRUE(engine_->start());  // which ends the scheduler's requests
  EXPECT_FALSE(scheduler->run());
  EXPECT_EQ(received.ends, 1u);
  EXPECT_TRUE(
      received.body.substr(received.body.rfind("data: ")).starts_with("data: {\"error\": "));
  EXPECT_EQ(received.body.find("[DONE]"), std::string::npos);
}

TEST_F(ServiceTest, TwoAtOnceAreAnsweredAsAlone) {
  const std::string bodies[] = {chat_body(R"(, "seed": 1)"), text_body(R"(, "seed": 2)")};
  const Json alone[] = {ask(kChatPath, bodies[0]).json(), ask(kTextPath, bodies[1]).json()};
  Received chat, text;
  begin(chat, kChatPath, bodies[0]);
  begin(text, kTextPath, bodies[1]);
  EXPECT_EQ(service_->running(), 2u);
  run();
  EXPECT_EQ(at(chat.json(), "choices"), at(alone[0], "choices"));
  EXPECT_EQ(at(text.json(), "choices"), at(alone[1], "choices"));
}

TEST_F(ServiceTest, ChoicesHaveSeedsOfTheirOwnAndShareThePrompt) {
  const Json one = ask(kTextPath, text_body(R"(, "seed": 3, "temperature": 1)")).json();
  const Json three = ask(kTextPath, text_body(R"(, "seed": 3, "temperature": 1, "n": 3)")).json();
  ASSERT_EQ(at(three, "choices").as_array().size(), 3u);
  EXPECT_EQ(text_at(three, 0), text_at(one, 0));
  EXPECT_NE(text_at(three, 1), text_at(three, 0));
  EXPECT_NE(text_at(three, 2), text_at(three, 1));
  EXPECT_EQ(at(at(three, "usage"), "prompt_tokens"), at(at(one, "usage"), "prompt_tokens"));
  EXPECT_EQ(at(at(three, "usage"), "completion_tokens"), Json(24));
  const Json again = ask(kTextPath, text_body(R"(, "temperature": 1)")).json();
  EXPECT_NE(text_at(again, 0),
            text_at(ask(kTextPath, text_body(R"(, "temperature": 1)")).json(), 0))
      << "without a seed it is another one each time";
}

TEST_F(ServiceTest, AStopTextEndsTheAnswer) {
  const std::string greedy = R"(, "temperature": 0)";
  const std::string text = text_at(ask(kTextPath, text_body(greedy)).json(), 0);
  const size_t middle = text.size() / 2;
  Json stop(Json::Object{{"stop", text.substr(middle, 4)}});
  const std::string more = greedy + ", " + stop.dump().substr(1, stop.dump().size() - 2);
  const Json stopped = ask(kTextPath, text_body(more)).json();
  EXPECT_EQ(text_at(stopped, 0), text.substr(0, text.find(text.substr(middle, 4))));
  EXPECT_EQ(finish_at(stopped, 0), "stop");
  std::string streamed;
  for (const Json& chunk : events(ask(kTextPath, text_body(more + R"(, "stream": true)")))) {
    streamed += text_at(chunk, 0);
  }
  EXPECT_EQ(streamed, text_at(stopped, 0)) << "no beginning of the stop text leaks";
}

TEST_F(ServiceTest, PromptsHaveFourForms) {
  const std::string rest = R"(, "max_tokens": 4, "temperature": 0)";
  const std::string text = "Once upon a time";
  const Json tokens =
      ask("/v1/tokenize", R"({"prompt": "Once upon a time", "add_special_tokens": true})").json();
  const std::string ids = at(tokens, "tokens").dump();
  const Json expected = ask(kTextPath, R"({"prompt": "Once upon a time")" + rest + "}").json();
  for (const std::string& prompt :
       {R"(["Once upon a time"])" + std::string(), ids, "[" + ids + "]"}) {
    const Json found = ask(kTextPath, "{\"prompt\": " + prompt + rest + "}").json();
    EXPECT_EQ(text_at(found, 0), text_at(expected, 0)) << prompt;
  }
  const Json both =
      ask(kTextPath, R"({"prompt": ["Once upon a time", "The king"], "echo": true)" + rest + "}")
          .json();
  EXPECT_EQ(text_at(both, 0), text + text_at(expected, 0));
  EXPECT_TRUE(text_at(both, 1).starts_with("The king"));
  EXPECT_EQ(at(choice_at(both, 1), "index"), Json(1));
}

TEST_F(ServiceTest, LogprobsOfCompletionsHaveTheOldShape) {
  const Json answer = ask(kTextPath, text_body(R"(, "temperature": 0, "logprobs": 2)")).json();
  const Json& logprobs = at(choice_at(answer, 0), "logprobs");
  std::string all;
  for (const Json& token : at(logprobs, "tokens").as_array()) all += token.as_string();
  EXPECT_EQ(all, text_at(answer, 0));
  EXPECT_EQ(at(logprobs, "token_logprobs").as_array().size(), 8u);
  for (const Json& top : at(logprobs, "top_logprobs").as_array()) {
    EXPECT_EQ(top.as_object().size(), 2u);
  }
  const std::string first = at(logprobs, "tokens").as_array()[0].as_string();
  EXPECT_EQ(at(logprobs, "text_offset").as_array()[1], Json(uint64_t(first.size())));
}

TEST_F(ServiceTest, EchoesScoreThePrompt) {
  const std::string echo = R"(, "temperature": 0, "logprobs": 2, "echo": true)";
  const Json whole = ask(kTextPath, text_body(echo)).json();
  const Json& logprobs = at(choice_at(whole, 0), "logprobs");
  const Json::Array& texts = at(logprobs, "tokens").as_array();
  const Json::Array& known = at(logprobs, "token_logprobs").as_array();
  ASSERT_EQ(known.size(), texts.size());
  EXPECT_EQ(known[0], Json());
  EXPECT_EQ(at(logprobs, "top_logprobs").as_array()[0], Json());
  EXPECT_EQ(at(logprobs, "text_offset").as_array()[1], Json(0u)) << "the first is special";
  std::string all;
  for (size_t i = 1; i < texts.size(); ++i) {
    all += texts[i].as_string();
    EXPECT_LT(known[i].as_number(), 0) << i;
    EXPECT_GE(at(logprobs, "top_logprobs").as_array()[i].as_object().size(), 1u);
  }
  EXPECT_EQ(all, text_at(whole, 0));
  // Without an answer; the tokens of the answer as a prompt have the same.
  const Json tokens =
      ask("/v1/tokenize", Json(Json::Object{{"content", all}, {"add_special", true}}).dump())
          .json();
  const Json scored = ask(kTextPath, Json(Json::Object{{"prompt", at(tokens, "tokens")},
                                                       {"max_tokens", 0u},
                                                       {"logprobs", 0u},
                                                       {"echo", true}})
                                         .dump())
                          .json();
  EXPECT_EQ(text_at(scored, 0), all);
  EXPECT_EQ(finish_at(scored, 0), "length");
  const Json::Array& again = at(at(choice_at(scored, 0), "logprobs"), "token_logprobs").as_array();
  ASSERT_EQ(again.size(), known.size());
  for (size_t i = 1; i < known.size(); ++i) {
    EXPECT_NEAR(again[i].as_number(), known[i].as_number(), 1e-3) << i;
  }
  std::string streamed;
  size_t count = 0;
  for (const Json& chunk : events(ask(kTextPath, text_body(echo + R"(, "stream": true)")))) {
    streamed += text_at(chunk, 0);
    const Json& of_chunk = at(choice_at(chunk, 0), "logprobs");
    if (!of_chunk.is_null()) count += at(of_chunk, "tokens").as_array().size();
  }
  EXPECT_EQ(streamed, all);
  EXPECT_EQ(count, known.size());
}

TEST_F(ServiceTest, AnAnswerIsHeldToAGrammar) {
  const Json king = ask(kTextPath, text_body(R"(, "grammar": "root ::= \" the king\"")")).json();
  EXPECT_EQ(text_at(king, 0), " the king");
  EXPECT_EQ(finish_at(king, 0), "stop");
  const std::string body = R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 6,
                               "response_format": {"type": "json_object"}})";
  EXPECT_TRUE(content_at(ask(kChatPath, body).json()).starts_with("{"));
}

TEST_F(ServiceTest, TheAnswerEndsWhereTheContextDoes) {
  const auto body = [](uint32_t kings) {  // a token each, after one at the beginning
    std::string prompt;
    for (uint32_t i = 0; i < kings; ++i) prompt += " king";
    return fmt::format(R"({{"prompt": "{}", "max_tokens": 32000, "ignore_eos": true}})", prompt);
  };
  const Json answer = ask(kTextPath, body(kContext - 4)).json();
  EXPECT_EQ(finish_at(answer, 0), "length");
  EXPECT_EQ(at(at(answer, "usage"), "prompt_tokens"), Json(kContext - 3));
  EXPECT_EQ(at(at(answer, "usage"), "completion_tokens"), Json(3));
  const Received received = ask(kTextPath, body(kContext - 1));
  EXPECT_EQ(received.status, 400);
  EXPECT_NE(received.body.find("\"code\": \"context_length_exceeded\""), std::string::npos);
  EXPECT_EQ(received.error(),
            "The prompt has 48 tokens, but the context has 48, in which the answer must have room, "
            "too.");
}

TEST_F(ServiceTest, ModelsAreListed) {
  const Json list = ask("/v1/models", "", "GET").json();
  ASSERT_EQ(at(list, "data").as_array().size(), 1u);
  const Json& model = at(list, "data").as_array()[0];
  EXPECT_EQ(model, *Json::parse(R"({"id": "org/storyteller", "object": "model",
      "created": 1700000000, "owned_by": "tokamak", "max_model_len": 48})"));
  for (const char* path : {"/v1/models/org/storyteller", "/models/org%2Fstoryteller?x=1"}) {
    EXPECT_EQ(ask(path, "", "GET").json(), model);
  }
  EXPECT_EQ(ask("/health", "", "GET").json(), *Json::parse(R"({"status": "ok"})"));
  EXPECT_EQ(ask(kTextPath, text_body(R"(, "model": "org/storyteller")")).status, 200);
}

TEST_F(ServiceTest, TextsBecomeTokensAndComeBack) {
  const Json tokens = ask("/tokenize", R"({"content": "Once upon a time"})").json();
  const Json text = ask("/detokenize", tokens.dump()).json();
  EXPECT_EQ(at(text, "content"), Json("Once upon a time"));
  const Json pieces =
      ask("/tokenize", R"({"content": "Once upon a time", "with_pieces": true})").json();
  std::string all;
  for (const Json& one : at(pieces, "tokens").as_array()) all += at(one, "piece").as_string();
  EXPECT_EQ(all, "Once upon a time");
  const auto count = [&](const char* more) {
    const std::string body = std::string(R"({"content": "<end_of_turn>")") + more + "}";
    return at(ask("/tokenize", body).json(), "tokens").as_array().size();
  };
  EXPECT_GT(count(""), 1u);
  EXPECT_EQ(count(R"(, "parse_special": true)"), 1u);
}

TEST_F(ServiceTest, PenaltiesAndBiasesChangeTheAnswer) {
  const std::string greedy = R"(, "temperature": 0)";
  const Json plain = ask(kTextPath, text_body(greedy)).json();
  const Json tokens =
      ask("/tokenize", Json(Json::Object{{"content", text_at(plain, 0)}}).dump()).json();
  const int64_t first = at(tokens, "tokens").as_array()[0].as_integer();
  const auto with = [&](const std::string& more) {
    return text_at(ask(kTextPath, text_body(greedy + more)).json(), 0);
  };
  EXPECT_NE(with(fmt::format(R"(, "logit_bias": {{"{}": -100}})", first)), text_at(plain, 0));
  EXPECT_NE(with(R"(, "presence_penalty": -2)"), with(R"(, "presence_penalty": 2)"));
  EXPECT_NE(with(R"(, "frequency_penalty": -2)"), with(R"(, "frequency_penalty": 2)"));
}

TEST_F(ServiceTest, AnAnswerHasAtLeastItsLeastTokens) {
  // The end token is as good as forced.
  const uint32_t end = engine_->defaults()->end_ids->front();
  const std::string bias = fmt::format(R"(, "logit_bias": {{"{}": 100}})", end);
  EXPECT_EQ(at(at(ask(kTextPath, text_body(bias)).json(), "usage"), "completion_tokens"), Json(1));
  const Json longer = ask(kTextPath, text_body(bias + R"(, "min_tokens": 5)")).json();
  EXPECT_EQ(at(at(longer, "usage"), "completion_tokens"), Json(6));
}

TEST_F(ServiceTest, ASpecialTokenInAMessageIsText) {
  const auto tokens = [&](std::string_view text) {
    const Json message(Json::Object{{"role", "user"}, {"content", text}});
    const Json body(Json::Object{{"messages", Json::Array{message}}, {"max_tokens", 1}});
    return at(at(ask(kChatPath, body.dump()).json(), "usage"), "prompt_tokens").as_integer();
  };
  const std::string plain = R"({"content": "<end_of_turn>"})";
  const Json pieces = ask("/tokenize", plain).json();
  const auto own = int64_t(at(pieces, "tokens").as_array().size());
  EXPECT_GT(own, 3);
  EXPECT_GE(tokens(" king <end_of_turn>"), tokens(" king") + own - 1);
}

TEST_F(ServiceTest, TenantsShareNoPrompts) {
  std::string words;
  for (int i = 0; i < 20; ++i) words += " king";
  Json body(Json::Object{{"prompt", words}, {"max_tokens", 1}});
  const auto cached = [&](std::string tenant) {
    Received received;
    service_->begin({"POST", std::string(kTextPath), body.dump(), std::move(tenant)},
                    sink_of(received));
    run();
    return at(at(at(received.json(), "usage"), "prompt_tokens_details"), "cached_tokens");
  };
  EXPECT_EQ(cached("ann"), Json(0));
  EXPECT_EQ(cached("ann"), Json(16));
  EXPECT_EQ(cached("bob"), Json(0));
  body.set("cache_salt", "a");
  EXPECT_EQ(cached("bob"), Json(0));
  EXPECT_EQ(cached("bob"), Json(16));
}

TEST_F(ServiceTest, AWrongMethodGetsThoseThatThereAre) {
  Received received;
  Sink sink = sink_of(received);
  std::string allowed;
  sink.header = [&](std::string_view name, std::string_view value) {
    EXPECT_EQ(received.status, 0) << "headers come before the answer";
    allowed += fmt::format("{}: {}\n", name, value);
  };
  service_->begin({"DELETE", "/v1/models", ""}, sink);
  EXPECT_EQ(received.status, 405);
  EXPECT_EQ(allowed, "Allow: GET\n");
}

}  // namespace
}  // namespace tokamak::protocol
