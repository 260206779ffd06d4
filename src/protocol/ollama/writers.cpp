// Ollama's chat and generate: lines of JSON, the last of which has counts and times.
#include "protocol/ollama/writers.h"

#include <chrono>
#include <cmath>

#include "protocol/ollama/time.h"

namespace tokamak::protocol {
namespace {

using Kind = OutputPart::Kind;

int64_t nanoseconds(double seconds) {
  return int64_t(std::llround(seconds * 1e9));
}

Json arguments_json(const CompletionItem& call) {
  const auto parsed = Json::parse(call.text);
  return parsed ? *parsed : Json(Json::Object{});
}

Json calls_json(std::span<const CompletionItem> items) {
  Json::Array calls;
  for (const CompletionItem& item : items) {
    if (item.kind != Kind::kCallBegin || item.is_cut) continue;  // arguments are whole or nothing
    Json function(Json::Object{{"name", item.name}, {"arguments", arguments_json(item)}});
    calls.push_back(Json(Json::Object{{"id", item.id}, {"function", std::move(function)}}));
  }
  return calls;
}

class OllamaWriter : public AnswerWriter {
 public:
  using AnswerWriter::AnswerWriter;

  std::string_view stream_type() const override { return "application/x-ndjson"; }
  std::string begin(size_t, Completion&) override { return {}; }
  std::string part(size_t, Completion& completion, const OutputPart& part) override {
    switch (part.kind) {
      case Kind::kReasoning:
        return line(body("", part.text, Json::Array{}), false);
      case Kind::kContent:
        return line(body(part.text, "", Json::Array{}), false);
      case Kind::kCallEnd:
        return line(body("", "", calls_json(std::span(completion.items).last(1))), false);
      case Kind::kCallBegin:
      case Kind::kCallArguments:
      case Kind::kCallCut:
        break;
    }
    return {};
  }
  std::string end(size_t, Completion&) override { return {}; }
  std::string finish(std::span<const Completion> completions, const Usage& usage) override {
    Json last = head_json(body("", "", Json::Array{}), true);
    add_counts(last, completions[0], usage);
    return last.dump() + "\n";
  }
  std::string error(const ApiError& error) const override {
    return error.body(Dialect::kOllama).dump() + "\n";
  }
  Json whole(std::span<const Completion> completions, const Usage& usage) override {
    const Completion& one = completions[0];
    Json out = head_json(
        body(one.text_of(Kind::kContent), one.text_of(Kind::kReasoning), calls_json(one.items)),
        true);
    add_counts(out, one, usage);
    return out;
  }

 protected:
  /// The members with the text and its reasoning.
  virtual Json::Object body(const std::string& content, const std::string& thinking,
                            Json calls) const = 0;

 private:
  Json head_json(Json::Object body, bool is_done) const {
    Json out(Json::Object{{"model", head().model}, {"created_at", utc_time(head().created)}});
    for (auto& [name, value] : body) out.set(std::move(name), std::move(value));
    out.set("done", is_done);
    return out;
  }
  std::string line(Json::Object body, bool is_done) const {
    return head_json(std::move(body), is_done).dump() + "\n";
  }
  static void add_counts(Json& out, const Completion& completion, const Usage& usage) {
    out.set("done_reason", completion.finish == Finish::kLength ? "length" : "stop");
    out.set("total_duration", nanoseconds(usage.prefill_seconds + usage.decode_seconds));
    out.set("load_duration", 0);
    out.set("prompt_eval_count", usage.prompt_tokens);
    out.set("prompt_eval_duration", nanoseconds(usage.prefill_seconds));
    out.set("eval_count", usage.completion_tokens);
    out.set("eval_duration", nanoseconds(usage.decode_seconds));
  }
};

class OllamaChatWriter : public OllamaWriter {
 public:
  using OllamaWriter::OllamaWriter;

 private:
  Json::Object body(const std::string& content, const std::string& thinking,
                    Json calls) const override {
    Json message(Json::Object{{"role", "assistant"}, {"content", content}});
    if (!thinking.empty()) message.set("thinking", thinking);
    if (!calls.as_array().empty()) message.set("tool_calls", std::move(calls));
    return {{"message", std::move(message)}};
  }
};

class OllamaGenerateWriter : public OllamaWriter {
 public:
  using OllamaWriter::OllamaWriter;

 private:
  Json::Object body(const std::string& content, const std::string& thinking, Json) const override {
    Json::Object out = {{"response", content}};
    if (!thinking.empty()) out.emplace_back("thinking", thinking);
    return out;
  }
};

}  // namespace

std::string utc_time(int64_t unix_seconds) {
  using namespace std::chrono;
  const sys_seconds time{seconds(unix_seconds)};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()),
                     unsigned(date.month()), unsigned(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

Json ollama_load_json(std::string_view model, int64_t created, Endpoint endpoint,
                      std::string_view reason) {
  Json out(Json::Object{{"model", model}, {"created_at", utc_time(created)}});
  if (endpoint == kOllamaChat) {
    out.set("message", Json(Json::Object{{"role", "assistant"}, {"content", ""}}));
  } else {
    out.set("response", "");
  }
  return out.set("done", true).set("done_reason", reason);
}

std::unique_ptr<AnswerWriter> ollama_chat_writer(AnswerHead head) {
  return std::make_unique<OllamaChatWriter>(std::move(head));
}

std::unique_ptr<AnswerWriter> ollama_generate_writer(AnswerHead head) {
  return std::make_unique<OllamaGenerateWriter>(std::move(head));
}

}  // namespace tokamak::protocol
