// OpenAI's chats and completions: whole answers, and chunks of streams.
#include "protocol/openai/writers.h"

#include <set>

#include "protocol/openai/call_shapes.h"

namespace tokamak::protocol {
namespace {

using Kind = OutputPart::Kind;

std::string_view finish_word(Finish finish) {
  switch (finish) {
    case Finish::kLength:
      return "length";
    case Finish::kToolCalls:
      return "tool_calls";
    case Finish::kStop:
      break;
  }
  return "stop";
}

Json usage_json(const Usage& usage) {
  return Json(Json::Object{
      {"prompt_tokens", usage.prompt_tokens},
      {"completion_tokens", usage.completion_tokens},
      {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
      {"prompt_tokens_details", Json(Json::Object{{"cached_tokens", usage.cached_tokens}})},
      {"completion_tokens_details",
       Json(Json::Object{{"reasoning_tokens", usage.reasoning_tokens}})}});
}

/// The part that chats and completions share.
class OpenAiWriter : public AnswerWriter {
 public:
  using AnswerWriter::AnswerWriter;

  std::string end(size_t choice, Completion& completion) override {
    return chunk(choice, completion, nothing(), Json(finish_word(completion.finish)));
  }
  std::string finish(std::span<const Completion>, const Usage& usage) override {
    std::string out;
    if (head().counts_usage) {
      Json last = answer(chunk_object(), {});
      last.set("usage", usage_json(usage));
      out = event(last);
    }
    return out + "data: [DONE]\n\n";
  }
  std::string error(const ApiError& error) const override {
    return event(error.body(Dialect::kOpenAi));
  }
  Json whole(std::span<const Completion> completions, const Usage& usage) override {
    Json::Array choices;
    for (size_t i = 0; i < completions.size(); ++i) {
      Json one(Json::Object{{"index", uint64_t(i)}});
      one.set(std::string(whole_name()), whole_choice(completions[i]));
      one.set("logprobs", head().has_logprobs ? logprobs_json(completions[i].tokens) : Json());
      one.set("finish_reason", finish_word(completions[i].finish));
      choices.push_back(std::move(one));
    }
    Json out = answer(whole_object(), std::move(choices));
    out.set("usage", usage_json(usage));
    return out;
  }

 protected:
  virtual std::string_view whole_object() const = 0;
  virtual std::string_view chunk_object() const = 0;
  virtual std::string_view whole_name() const = 0;
  virtual std::string_view chunk_name() const = 0;
  virtual Json whole_choice(const Completion& completion) const = 0;
  virtual Json nothing() const = 0;
  virtual Json logprobs_json(std::span<const CompletionToken> tokens) const = 0;

  std::string chunk(size_t choice, Completion& completion, Json delta, Json finish = {}) {
    Json one(Json::Object{{"index", uint64_t(choice)}});
    one.set(std::string(chunk_name()), std::move(delta));
    one.set("logprobs", completion.tokens.empty() ? Json() : logprobs_json(completion.tokens));
    one.set("finish_reason", std::move(finish));
    completion.tokens.clear();
    return event(answer(chunk_object(), {std::move(one)}));
  }

 private:
  Json answer(std::string_view object, Json::Array choices) const {
    return Json(Json::Object{{"id", head().id},
                             {"object", object},
                             {"created", head().created},
                             {"model", head().model},
                             {"system_fingerprint", head().fingerprint},
                             {"choices", std::move(choices)}});
  }
};

class ChatWriter : public OpenAiWriter {
 public:
  using OpenAiWriter::OpenAiWriter;

  std::string begin(size_t choice, Completion&) override {
    silent_.insert(choice);
    return {};
  }
  std::string end(size_t choice, Completion& completion) override {
    std::string role = role_of(choice, completion, completion.is_calls_only ? Json() : Json(""));
    return role + OpenAiWriter::end(choice, completion);
  }
  std::string part(size_t choice, Completion& completion, const OutputPart& part) override {
    std::string role =
        role_of(choice, completion, part.kind == Kind::kCallBegin ? Json() : Json(""));
    return role + delta_of(choice, completion, part);
  }

 private:
  /// The chunk that says who speaks, before the first part: clients that gather chunks have null
  /// in place of a content where a choice is calls only.
  std::string role_of(size_t choice, Completion& completion, Json content) {
    if (silent_.erase(choice) == 0) return {};
    std::vector<CompletionToken> of_part = std::exchange(completion.tokens, {});
    std::string role =
        chunk(choice, completion,
              Json(Json::Object{{"role", "assistant"}, {"content", std::move(content)}}));
    completion.tokens = std::move(of_part);
    return role;
  }
  std::string delta_of(size_t choice, Completion& completion, const OutputPart& part) {
    Json delta(Json::Object{});
    const CompletionItem& item = completion.items.back();
    switch (part.kind) {
      case Kind::kReasoning:
        delta.set("reasoning_content", part.text);
        break;
      case Kind::kContent:
        delta.set("content", part.text);
        break;
      case Kind::kCallBegin:
        delta.set("tool_calls", call_delta(completion, call_json(item, "")));
        break;
      case Kind::kCallArguments:
        if (is_custom(item)) return {};  // its text comes whole, at the end
        delta.set(
            "tool_calls",
            call_delta(
                completion,
                Json(Json::Object{{"function", Json(Json::Object{{"arguments", part.text}})}})));
        break;
      case Kind::kCallEnd:
      case Kind::kCallCut: {
        if (!is_custom(item)) return {};
        Json input(Json::Object{{"input", custom_input(item.text)}});
        delta.set("tool_calls",
                  call_delta(completion, Json(Json::Object{{"custom", std::move(input)}})));
        break;
      }
    }
    return chunk(choice, completion, std::move(delta));
  }
  bool is_custom(const CompletionItem& item) const {
    return call_shape(head().call_shapes, item.name).is_custom;
  }
  Json call_json(const CompletionItem& item, const std::string& arguments) const {
    if (is_custom(item)) {
      const std::string input = arguments.empty() ? "" : custom_input(arguments);
      Json custom(Json::Object{{"name", item.name}, {"input", input}});
      return Json(Json::Object{{"id", item.id}, {"type", "custom"}, {"custom", std::move(custom)}});
    }
    Json function(Json::Object{{"name", item.name}, {"arguments", arguments}});
    return Json(
        Json::Object{{"id", item.id}, {"type", "function"}, {"function", std::move(function)}});
  }
  static Json call_delta(const Completion& completion, Json call) {
    const uint64_t index = completion.calls_until(completion.items.size()) - 1;
    call.as_object().insert(call.as_object().begin(), {"index", index});
    return Json::Array{std::move(call)};
  }

  std::string_view whole_object() const override { return "chat.completion"; }
  std::string_view chunk_object() const override { return "chat.completion.chunk"; }
  std::string_view whole_name() const override { return "message"; }
  std::string_view chunk_name() const override { return "delta"; }
  Json nothing() const override { return Json(Json::Object{}); }
  Json logprobs_json(std::span<const CompletionToken> tokens) const override {
    return chat_logprobs(*head().tokenizer, tokens);
  }
  Json whole_choice(const Completion& completion) const override {
    Json::Array calls;
    for (const CompletionItem& item : completion.items) {
      if (item.kind == Kind::kCallBegin) calls.push_back(call_json(item, item.text));
    }
    const std::string content = completion.text_of(Kind::kContent);
    const std::string reasoning = completion.text_of(Kind::kReasoning);
    const bool has_content = !content.empty() || (calls.empty() && !completion.is_calls_only);
    Json message(Json::Object{{"role", "assistant"},
                              {"content", has_content ? Json(content) : Json()},
                              {"refusal", nullptr}});
    if (!reasoning.empty()) message.set("reasoning_content", reasoning);
    if (!calls.empty()) message.set("tool_calls", std::move(calls));
    return message;
  }

  std::set<size_t> silent_;  // choices without a token yet
};

class CompletionWriter : public OpenAiWriter {
 public:
  using OpenAiWriter::OpenAiWriter;

  std::string begin(size_t, Completion&) override { return {}; }
  std::string part(size_t choice, Completion& completion, const OutputPart& part) override {
    return chunk(choice, completion, part.text);
  }

 private:
  std::string_view whole_object() const override { return "text_completion"; }
  std::string_view chunk_object() const override { return "text_completion"; }
  std::string_view whole_name() const override { return "text"; }
  std::string_view chunk_name() const override { return "text"; }
  Json nothing() const override { return ""; }
  Json whole_choice(const Completion& completion) const override {
    return completion.text_of(Kind::kContent);
  }
  Json logprobs_json(std::span<const CompletionToken> tokens) const override {
    return completion_logprobs(*head().tokenizer, tokens);
  }
};

}  // namespace

std::unique_ptr<AnswerWriter> chat_writer(AnswerHead head) {
  return std::make_unique<ChatWriter>(std::move(head));
}

std::unique_ptr<AnswerWriter> completion_writer(AnswerHead head) {
  return std::make_unique<CompletionWriter>(std::move(head));
}

}  // namespace tokamak::protocol
