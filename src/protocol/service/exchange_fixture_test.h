// The part that tests of exchanges and writers share: an exchange whose scheduler is the test.
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "protocol/openai/writers.h"
#include "protocol/service/exchange.h"

namespace tokamak::protocol {

inline const Tokenizer& tokenizer() {
  static const Tokenizer kTokenizer = [] {
    std::ifstream file(TOKAMAK_SOURCE_DIR "/models/storyteller/tokenizer.json");
    std::stringstream text;
    text << file.rdbuf();
    return *Tokenizer::from_json(text.str());
  }();
  return kTokenizer;
}

/// An exchange whose scheduler is the test.
struct Exchange {
  using WriterMaker = std::unique_ptr<AnswerWriter> (*)(AnswerHead);

  explicit Exchange(TextJob job, WriterMaker writer = chat_writer,
                    Dialect dialect = Dialect::kOpenAi)
      : sink{.begin = [this](int code, std::string_view) { status = code; },
             .write = [this](std::string_view text) { body += text; },
             .end = [this] { ++ends; }},
        exchange(std::make_shared<TextExchange>(
            tokenizer(),
            writer(AnswerHead{.id = "id",
                              .created = 1700000000,
                              .model = "m",
                              .prompt_tokens = 5,
                              .tokenizer = &tokenizer(),
                              .random = [this] { return ++drawn; }}),
            dialect, std::move(job), [this] { return ++drawn; }, sink)) {
    for (size_t i = 0; i < exchange->size(); ++i) requests.push_back(exchange->request(i));
  }

  void write(size_t choice, std::string_view text) {
    const std::vector<uint32_t> ids = *tokenizer().encode(text, {.add_special = false});
    for (const uint32_t id : ids) {
      if (requests[choice].callbacks.cancelled()) return;
      requests[choice].callbacks.token(id, nullptr);
    }
  }
  void finish(size_t choice, FinishReason reason = FinishReason::kEndToken) {
    requests[choice].done(
        Generation{.ids = {7, 1}, .finish = reason, .prompt_tokens = 5, .cached_tokens = 3});
  }
  /// A choice of the whole answer.
  Json choice(size_t index) const {
    return Json::parse(body)->find("choices")->as_array().at(index);
  }

  int status = 0;
  std::string body;
  uint32_t ends = 0;
  uint64_t drawn = 0;
  Sink sink;
  std::shared_ptr<TextExchange> exchange;
  std::vector<Request> requests;
};

inline TextJob chat_job(bool streams, uint32_t choices = 1) {
  TextJob job;
  job.shown = choices;
  job.prompts.emplace_back();
  job.prompts.back().params.end_ids = {1};
  job.echoes.emplace_back();
  job.choices = choices;
  job.streams = streams;
  job.form.tools = &tool_families().front();
  job.form.reasoning_open = "<think>";
  job.form.reasoning_close = "</think>";
  return job;
}

inline constexpr const char* kCall =
    R"(<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>)";

}  // namespace tokamak::protocol
