#include <algorithm>
#include <bit>

#include "protocol/service/plain_fixture_test.h"

namespace tokamak::protocol {
namespace {

/// An encoder without a tokenizer, of which a text of the whole context is short.
Engine& engine() {
  static const std::unique_ptr<Engine> kEngine = open_encoder("embeddings/qwen3_embedding", 512);
  return *kEngine;
}

PlainAnswer ask(std::string_view path, std::string_view body) {
  return response(engine(), path, body);
}

const Json& data_at(const PlainAnswer& received, size_t index) {
  return received.json.find("data")->as_array().at(index);
}

std::vector<float> vector_at(const PlainAnswer& received, size_t index) {
  std::vector<float> out;
  for (const Json& number : data_at(received, index).find("embedding")->as_array()) {
    out.push_back(float(number.as_number()));
  }
  return out;
}

std::vector<float> decoded(std::string_view base64) {
  std::string bytes;
  uint32_t bits = 0, count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    const std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits = bits << 6 | uint32_t(letters.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += char(uint8_t(bits >> count));
  }
  std::vector<float> out;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    uint32_t word = 0;
    for (size_t k = 0; k < 4; ++k) word |= uint32_t{uint8_t(bytes[i + k])} << (8 * k);
    out.push_back(std::bit_cast<float>(word));
  }
  return out;
}

TEST(Embeddings, AreWhatTheEngineMakes) {
  const PlainAnswer received =
      ask("/v1/embeddings", R"({"model": "m", "input": [[5, 6, 7], [8, 9]]})");
  ASSERT_EQ(received.status, 200) << received.json.dump();
  const uint32_t ids[] = {8, 9};
  EXPECT_EQ(vector_at(received, 1), *engine().embed(ids));
  EXPECT_EQ(*data_at(received, 1).find("index"), Json(1));
  EXPECT_EQ(*received.json.find("usage"),
            *Json::parse(R"({"prompt_tokens": 5, "total_tokens": 5})"));
}

TEST(Embeddings, ComeAsTextToo) {
  for (const int dimensions : {1, 2, 3, 4, 8}) {
    const std::string rest = fmt::format(R"("input": [5, 6], "dimensions": {})", dimensions);
    const PlainAnswer numbers = ask("/embeddings", "{" + rest + "}");
    const PlainAnswer text = ask("/embeddings", "{" + rest + R"(, "encoding_format": "base64"})");
    ASSERT_EQ(text.status, 200) << text.json.dump();
    EXPECT_EQ(vector_at(numbers, 0).size(), size_t(dimensions));
    const std::string base64 = data_at(text, 0).find("embedding")->as_string();
    EXPECT_EQ(decoded(base64), vector_at(numbers, 0));
    EXPECT_EQ(base64.size() % 4, 0u);
    EXPECT_EQ(std::ranges::count(base64, '='), (3 - 4 * dimensions % 3) % 3);
  }
}

/// The tokens of a text that differs from the next.
std::vector<uint32_t> ids_of(int text) {
  std::vector<uint32_t> ids(std::min(64u, engine().compiled().context), 5);
  ids.front() = uint32_t(6 + text % 3);
  return ids;
}

/// A number of those texts that is more than the work of a step.
int more_than_a_step() {
  return int(4 * engine().compiled().main.plan.chunk() / ids_of(0).size()) + 2;
}

/// A service and requests for embeddings on their way.
struct Asked {
  ExchangeId begin(int texts, PlainAnswer& out, std::function<bool()> is_cancelled = {}) {
    Json::Array input;
    for (int i = 0; i < texts; ++i) {
      Json::Array ids;
      for (const uint32_t id : ids_of(i)) ids.push_back(Json(id));
      input.push_back(Json(std::move(ids)));
    }
    const Json body(Json::Object{{"input", Json(std::move(input))}});
    return service->begin(
        {"POST", "/v1/embeddings", body.dump()},
        {.begin = [&out](int status, std::string_view) { out.status = status; },
         .write = [&out](std::string_view text) { out.json = *Json::parse(text); },
         .end = [] {},
         .is_cancelled = std::move(is_cancelled)});
  }
  int run() {
    int steps = 0;
    for (; service->has_jobs(); ++steps) service->run_job();
    return steps;
  }

  std::unique_ptr<Service> service = *Service::make(
      engine(), {.model = "m", .unix_seconds = [] { return 0; }, .random = [] { return 4u; }});
};

TEST(Embeddings, OfManyTextsComeInSteps) {
  Asked asked;
  PlainAnswer received;
  asked.begin(more_than_a_step(), received);
  EXPECT_EQ(received.status, 0);
  EXPECT_EQ(asked.run(), 2);
  ASSERT_EQ(received.status, 200) << received.json.dump();
  ASSERT_EQ(received.json.find("data")->as_array().size(), size_t(more_than_a_step()));
  for (const int i : {0, more_than_a_step() - 1}) {
    EXPECT_EQ(vector_at(received, size_t(i)), *engine().embed(ids_of(i)));
  }
}

TEST(Embeddings, OfOneTextDoNotWaitForThoseOfMany) {
  Asked asked;
  PlainAnswer many, one;
  asked.begin(more_than_a_step(), many);
  asked.begin(1, one);
  asked.service->run_job();
  asked.service->run_job();
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(many.status, 0);
  asked.run();
  EXPECT_EQ(many.status, 200);
}

TEST(Embeddings, AreNotMadeForWhomIsGone) {
  Asked asked;
  PlainAnswer cancelled, gone;
  bool is_cancelled = false;
  asked.begin(more_than_a_step(), cancelled, [&] { return is_cancelled; });
  const ExchangeId id = asked.begin(3, gone);
  asked.service->run_job();
  is_cancelled = true;
  asked.service->cancel(id);
  EXPECT_EQ(asked.run(), 1) << "which ends at once";
  EXPECT_EQ(cancelled.status, 503);
  EXPECT_EQ(gone.status, 0);
}

TEST(Embeddings, OfLongTextsAreOfTheirBeginning) {
  std::string ids = "5";
  for (uint32_t i = 1; i < engine().compiled().context + 9; ++i) ids += ", 5";
  const auto asked = [&](std::string_view more) {
    return fmt::format(R"({{"input": [{}]{}}})", ids, more);
  };
  const auto expected = engine().embed(std::vector<uint32_t>(engine().compiled().context, 5));
  ASSERT_TRUE(expected);
  for (const char* more :
       {R"(, "truncate": true)", R"(, "truncate": "END")", R"(, "truncate_prompt_tokens": -1)"}) {
    const PlainAnswer received = ask("/v1/embeddings", asked(more));
    ASSERT_EQ(received.status, 200) << received.json.dump();
    EXPECT_EQ(vector_at(received, 0), *expected) << more;
  }
  EXPECT_EQ(ask("/api/embed", asked("")).status, 200) << "as Ollama does";
  EXPECT_EQ(ask("/api/embed", asked(R"(, "truncate": false)")).status, 400);
  for (const char* more : {"", R"(, "truncate": null)", R"(, "truncate": "NONE")",
                           R"(, "truncate": "START")", R"(, "truncate_prompt_tokens": 5)"}) {
    EXPECT_EQ(ask("/v1/embeddings", asked(more)).status, 400) << more;
  }
}

TEST(Embeddings, WhatTheModelCannotDoIsAnError) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"input": [5], "dimensions": 1000000})", "dimensions"},
      {R"({"input": [99999999]})", "input"},
      {R"({"input": []})", "input"},
      {R"({"input": "a text without a tokenizer"})", "input"},
      {R"({"input": [[5], []]})", "input"},
  };
  for (const auto& [body, param] : cases) {
    const PlainAnswer received = ask("/v1/embeddings", body);
    EXPECT_EQ(received.status, 400) << body;
    EXPECT_EQ(*received.json.find("error")->find("param"), Json(param)) << body;
  }
  std::string many = "5";
  for (uint32_t i = 0; i < engine().compiled().context; ++i) many += ", 5";
  const PlainAnswer longer =
      ask("/v1/embeddings", fmt::format(R"({{"input": [[5], [{}]]}})", many));
  EXPECT_EQ(longer.status, 400);
  EXPECT_EQ(longer.json.find("error")->find("message")->as_string(),
            fmt::format("input[1] has {} tokens, but the model reads at most {}.",
                        engine().compiled().context + 1, engine().compiled().context));
  const PlainAnswer chat =
      ask("/v1/chat/completions", R"({"messages": [{"role": "user", "content": "a"}]})");
  EXPECT_EQ(chat.status, 400);
  EXPECT_EQ(*chat.json.find("error")->find("param"), Json("model"));
}

TEST(SparseEmbeddings, AreWeightsOfTokensForEachText) {
  const std::unique_ptr<Engine> engine = open_encoder("embeddings/bge_m3", 64);
  const std::string body = R"({"inputs": ["the owl hunts", "a fox"], "truncate": true})";
  const PlainAnswer received = response(*engine, "/embed_sparse", body);
  ASSERT_EQ(received.status, 200) << received.json.dump();
  const std::vector<std::vector<uint32_t>> ids = {*engine->embedding_ids("the owl hunts"),
                                                  *engine->embedding_ids("a fox")};
  const auto expected = engine->embed_sparse(ids);
  ASSERT_TRUE(expected);
  const auto& texts = received.json.as_array();
  ASSERT_EQ(texts.size(), 2u);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& found = texts[i].as_array();
    ASSERT_EQ(found.size(), (*expected)[i].size());
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(*found[k].find("index"), Json((*expected)[i][k].id));
      EXPECT_EQ(float(found[k].find("value")->as_number()), (*expected)[i][k].weight);
    }
  }
  const PlainAnswer none = ask("/embed_sparse", R"({"inputs": [5, 6]})");
  EXPECT_EQ(none.status, 400);
  EXPECT_NE(none.json.dump().find("makes no sparse vectors"), std::string::npos);
}

}  // namespace
}  // namespace tokamak::protocol
