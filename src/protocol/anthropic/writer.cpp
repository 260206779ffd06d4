// Anthropic's Messages: an answer is a list of blocks, and a stream says where each begins and
// ends.
#include "protocol/anthropic/writer.h"

namespace tokamak::protocol {
namespace {

using Kind = OutputPart::Kind;

std::string typed(std::string_view type, Json data) {
  data.as_object().insert(data.as_object().begin(), {"type", type});
  return event(data, type);
}

Json stop_reason(const Completion& completion) {
  if (completion.finish == Finish::kLength) return "max_tokens";
  if (completion.finish == Finish::kToolCalls) return "tool_use";
  return completion.stop.empty() ? "end_turn" : "stop_sequence";
}

Json stop_sequence(const Completion& completion) {
  return completion.stop.empty() ? Json() : Json(completion.stop);
}

Json usage_json(uint64_t prompt, uint64_t cached, uint64_t output) {
  return Json(Json::Object{{"input_tokens", prompt - cached},
                           {"cache_creation_input_tokens", 0},
                           {"cache_read_input_tokens", cached},
                           {"output_tokens", output}});
}

/// A block, whole or as it begins.
Json block_json(const CompletionItem& item, bool is_whole) {
  const std::string text = is_whole ? item.text : "";
  switch (item.kind) {
    case Kind::kReasoning:
      return Json(Json::Object{{"type", "thinking"}, {"thinking", text}, {"signature", ""}});
    case Kind::kContent:
      return Json(Json::Object{{"type", "text"}, {"text", text}});
    default:
      break;
  }
  const auto input = Json::parse(text);
  return Json(Json::Object{{"type", "tool_use"},
                           {"id", item.id},
                           {"name", item.name},
                           {"input", input ? *input : Json(Json::Object{})}});
}

class AnthropicWriter : public AnswerWriter {
 public:
  using AnswerWriter::AnswerWriter;

  std::string_view call_prefix() const override { return "toolu_"; }

  std::string begin(size_t, Completion&) override {
    Json message = message_json({}, Json(), Json());
    message.set("usage", usage_json(head().prompt_tokens, 0, 0));
    return typed("message_start", Json(Json::Object{{"message", std::move(message)}})) +
           typed("ping", Json(Json::Object{}));
  }
  std::string part(size_t, Completion& completion, const OutputPart& part) override {
    std::string out;
    if (completion.items.size() > blocks_) {
      out += close_block();
      blocks_ = completion.items.size();
      is_open_ = true;
      out +=
          typed("content_block_start",
                Json(Json::Object{{"index", uint64_t(blocks_ - 1)},
                                  {"content_block", block_json(completion.items.back(), false)}}));
    }
    Json delta(Json::Object{});
    switch (part.kind) {
      case Kind::kReasoning:
        delta.set("type", "thinking_delta").set("thinking", part.text);
        break;
      case Kind::kContent:
        delta.set("type", "text_delta").set("text", part.text);
        break;
      case Kind::kCallArguments:
        delta.set("type", "input_json_delta").set("partial_json", part.text);
        break;
      case Kind::kCallBegin:
        return out;
      case Kind::kCallEnd:
      case Kind::kCallCut:
        return close_block();
    }
    return out + typed("content_block_delta", Json(Json::Object{{"index", uint64_t(blocks_ - 1)},
                                                                {"delta", std::move(delta)}}));
  }
  std::string end(size_t, Completion&) override { return close_block(); }
  std::string finish(std::span<const Completion> completions, const Usage& usage) override {
    Json delta(Json::Object{{"stop_reason", stop_reason(completions[0])},
                            {"stop_sequence", stop_sequence(completions[0])}});
    return typed("message_delta",
                 Json(Json::Object{{"delta", std::move(delta)},
                                   {"usage", usage_json(usage.prompt_tokens, usage.cached_tokens,
                                                        usage.completion_tokens)}})) +
           typed("message_stop", Json(Json::Object{}));
  }
  std::string error(const ApiError& error) const override {
    return event(error.body(Dialect::kAnthropic), "error");
  }
  Json whole(std::span<const Completion> completions, const Usage& usage) override {
    Json::Array blocks;
    for (const CompletionItem& item : completions[0].items) {
      // A call that a limit has cut has no input, and clients would run it with none.
      const bool is_lost = item.is_cut && item.kind == Kind::kCallBegin;
      if (!is_lost) blocks.push_back(block_json(item, true));
    }
    Json message =
        message_json(std::move(blocks), stop_reason(completions[0]), stop_sequence(completions[0]));
    message.set("usage",
                usage_json(usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens));
    return message;
  }

 private:
  Json message_json(Json::Array content, Json reason, Json sequence) const {
    return Json(Json::Object{{"id", head().id},
                             {"type", "message"},
                             {"role", "assistant"},
                             {"model", head().model},
                             {"content", std::move(content)},
                             {"stop_reason", std::move(reason)},
                             {"stop_sequence", std::move(sequence)}});
  }
  std::string close_block() {
    if (!std::exchange(is_open_, false)) return {};
    return typed("content_block_stop", Json(Json::Object{{"index", uint64_t(blocks_ - 1)}}));
  }

  size_t blocks_ = 0;  // that have begun
  bool is_open_ = false;
};

}  // namespace

std::unique_ptr<AnswerWriter> anthropic_writer(AnswerHead head) {
  return std::make_unique<AnthropicWriter>(std::move(head));
}

}  // namespace tokamak::protocol
