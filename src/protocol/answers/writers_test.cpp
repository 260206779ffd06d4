// The answers in each protocol for the same words of a model.
#include "protocol/openai/writers.h"

#include <algorithm>

#include "protocol/anthropic/writer.h"
#include "protocol/ollama/writers.h"
#include "protocol/service/exchange_fixture_test.h"
#include "protocol/service/text_body_reader.h"

namespace tokamak::protocol {
namespace {

constexpr const char* kWords =
    "<think>\nwhy\n</think>\nYes. <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": "
    "1}}</tool_call>";

/// The answer to kWords.
std::string said(bool streams, Exchange::WriterMaker writer, Dialect dialect,
                 FinishReason reason = FinishReason::kEndToken) {
  Exchange one(chat_job(streams), writer, dialect);
  one.write(0, kWords);
  one.finish(0, reason);
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(one.ends, 1u);
  return one.body;
}

struct Event {
  std::string type;
  Json data;
};

std::vector<Event> events_of(std::string_view body) {
  std::vector<Event> out;
  while (!body.empty()) {
    const size_t end = body.find("\n\n");
    std::string_view one = body.substr(0, end);
    body.remove_prefix(end + 2);
    Event event;
    if (one.starts_with("event: ")) {
      event.type = one.substr(7, one.find('\n') - 7);
      one.remove_prefix(one.find('\n') + 1);
    }
    EXPECT_TRUE(one.starts_with("data: ")) << one;
    const auto data = Json::parse(one.substr(6));
    EXPECT_TRUE(data || one == "data: [DONE]") << one;
    if (data) event.data = *data;
    out.push_back(std::move(event));
  }
  return out;
}

/// Types of events, those of deltas in a row once.
std::vector<std::string> order_of(const std::vector<Event>& events) {
  std::vector<std::string> out;
  for (const Event& event : events) {
    EXPECT_EQ(*event.data.find("type"), Json(event.type));
    if (out.empty() || out.back() != event.type) out.push_back(event.type);
  }
  return out;
}

/// All of a member's texts in events of one type.
std::string texts(const std::vector<Event>& events, std::string_view type,
                  std::string_view member) {
  std::string all;
  for (const Event& event : events) {
    if (event.type == type) all += event.data.find(member)->as_string();
  }
  return all;
}

TEST(Writers, AChatOfCallsOnlyHasNoContent) {
  Exchange one(chat_job(true), chat_writer, Dialect::kOpenAi);
  one.write(0, R"(<tool_call>{"name": "f", "arguments": {}}</tool_call>)");
  one.finish(0, FinishReason::kEndToken);
  const Json first = *events_of(one.body)[0].data.find("choices")->as_array()[0].find("delta");
  EXPECT_EQ(first, *Json::parse(R"({"role": "assistant", "content": null})"));
}

TEST(Writers, ChatsStreamReasoningContentAndCalls) {
  std::string reasoning, content, arguments;
  for (const Event& event : events_of(said(true, chat_writer, Dialect::kOpenAi))) {
    const Json* choices = event.data.find("choices");
    if (choices == nullptr) continue;
    const Json delta = *choices->as_array()[0].find("delta");
    if (const Json* text = delta.find("reasoning_content")) reasoning += text->as_string();
    if (const Json* text = delta.find("content")) content += text->as_string();
    const Json* calls = delta.find("tool_calls");
    if (calls == nullptr) continue;
    arguments += calls->as_array()[0].find("function")->find("arguments")->as_string();
  }
  EXPECT_EQ(reasoning, "why");
  EXPECT_EQ(content, "Yes. ");
  EXPECT_EQ(arguments, R"({"a": 1})");
}

TEST(Writers, ResponsesSayWhereEachItemBeginsAndEnds) {
  const std::vector<Event> events = events_of(said(true, responses_writer, Dialect::kOpenAi));
  EXPECT_EQ(
      order_of(events),
      (std::vector<std::string>{
          "response.created", "response.in_progress", "response.output_item.added",
          "response.content_part.added", "response.reasoning_text.delta",
          "response.reasoning_text.done", "response.content_part.done", "response.output_item.done",
          "response.output_item.added", "response.content_part.added", "response.output_text.delta",
          "response.output_text.done", "response.content_part.done", "response.output_item.done",
          "response.output_item.added", "response.function_call_arguments.delta",
          "response.function_call_arguments.done", "response.output_item.done",
          "response.completed"}));
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(*events[i].data.find("sequence_number"), Json(uint64_t(i)));
  }
  EXPECT_EQ(texts(events, "response.reasoning_text.delta", "delta"), "why");
  EXPECT_EQ(texts(events, "response.output_text.delta", "delta"), "Yes. ");
  EXPECT_EQ(texts(events, "response.function_call_arguments.delta", "delta"), R"({"a": 1})");

  const Json& last = *events.back().data.find("response");
  EXPECT_EQ(*last.find("status"), Json("completed"));
  const Json::Array& items = last.find("output")->as_array();
  ASSERT_EQ(items.size(), 3u);
  size_t done = 0;
  for (const Event& event : events) {
    if (event.type != "response.output_item.done") continue;
    EXPECT_EQ(*event.data.find("item"), items.at(done++)) << "the end repeats what was told";
  }
  EXPECT_EQ(*items[1].find("content"), *Json::parse(R"([{"type": "output_text", "text": "Yes. ",
      "annotations": [], "logprobs": []}])"));
  EXPECT_EQ(*items[2].find("name"), Json("f"));
  EXPECT_TRUE(items[2].find("id")->as_string().starts_with("fc_"));
  EXPECT_TRUE(items[2].find("call_id")->as_string().starts_with("call_"));
  EXPECT_EQ(
      *last.find("usage"),
      *Json::parse(R"({"input_tokens": 5, "input_tokens_details":
      {"cached_tokens": 3}, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": )" +
                   last.find("usage")->find("output_tokens_details")->as_object()[0].second.dump() +
                   R"(}, "total_tokens": 7})"));
}

TEST(Writers, AResponseThatIsCutIsIncomplete) {
  const auto body =
      Json::parse(said(false, responses_writer, Dialect::kOpenAi, FinishReason::kMaxTokens));
  EXPECT_EQ(*body->find("status"), Json("incomplete"));
  EXPECT_EQ(*body->find("incomplete_details"), *Json::parse(R"({"reason": "max_output_tokens"})"));
  EXPECT_EQ(body->find("output")->as_array().size(), 3u);
}

TEST(Writers, AnthropicsMessagesAreBlocks) {
  const std::vector<Event> events = events_of(said(true, anthropic_writer, Dialect::kAnthropic));
  EXPECT_EQ(order_of(events),
            (std::vector<std::string>{
                "message_start", "ping", "content_block_start", "content_block_delta",
                "content_block_stop", "content_block_start", "content_block_delta",
                "content_block_stop", "content_block_start", "content_block_delta",
                "content_block_stop", "message_delta", "message_stop"}));
  std::string thinking, text, input;
  for (const Event& event : events) {
    if (event.type != "content_block_delta") continue;
    const Json& delta = *event.data.find("delta");
    if (const Json* found = delta.find("thinking")) thinking += found->as_string();
    if (const Json* found = delta.find("text")) text += found->as_string();
    if (const Json* found = delta.find("partial_json")) input += found->as_string();
  }
  EXPECT_EQ(thinking, "why");
  EXPECT_EQ(text, "Yes. ");
  EXPECT_EQ(input, R"({"a": 1})");
  const Json& end = events[events.size() - 2].data;
  EXPECT_EQ(*end.find("delta"),
            *Json::parse(R"({"stop_reason": "tool_use", "stop_sequence": null})"));
  EXPECT_EQ(*end.find("usage"), *Json::parse(R"({"input_tokens": 2,
      "cache_creation_input_tokens": 0, "cache_read_input_tokens": 3, "output_tokens": 2})"));

  const auto whole = Json::parse(said(false, anthropic_writer, Dialect::kAnthropic));
  const Json::Array& blocks = whole->find("content")->as_array();
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(*blocks[0].find("thinking"), Json("why"));
  EXPECT_EQ(*blocks[1].find("text"), Json("Yes. "));
  EXPECT_EQ(*blocks[2].find("input"), *Json::parse(R"({"a": 1})"));
  EXPECT_TRUE(blocks[2].find("id")->as_string().starts_with("toolu_"));
}

TEST(Writers, AnthropicGetsTheStopText) {
  for (const bool streams : {false, true}) {
    TextJob job = chat_job(streams);
    job.stop = {"x", "end"};
    Exchange one(std::move(job), anthropic_writer, Dialect::kAnthropic);
    one.write(0, "The end.");
    one.finish(0, FinishReason::kCancelled);
    EXPECT_NE(one.body.find(R"("stop_reason": "stop_sequence", "stop_sequence": "end")"),
              std::string::npos)
        << one.body;
  }
}

TEST(Writers, OllamaWritesLines) {
  const std::string body = said(true, ollama_chat_writer, Dialect::kOllama);
  std::string thinking, content;
  std::vector<Json> lines;
  for (size_t begin = 0, end = 0; (end = body.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const auto line = Json::parse(body.substr(begin, end - begin));
    ASSERT_TRUE(line);
    lines.push_back(*line);
    EXPECT_EQ(*line->find("created_at"), Json("2023-11-14T22:13:20Z"));
    const Json& message = *line->find("message");
    content += message.find("content")->as_string();
    if (const Json* found = message.find("thinking")) thinking += found->as_string();
  }
  EXPECT_EQ(thinking, "why");
  EXPECT_EQ(content, "Yes. ");
  const Json& call = lines[lines.size() - 2].find("message")->find("tool_calls")->as_array()[0];
  EXPECT_EQ(*call.find("function"), *Json::parse(R"({"name": "f", "arguments": {"a": 1}})"));
  EXPECT_EQ(*lines.back().find("done"), Json(true));
  EXPECT_EQ(*lines.back().find("done_reason"), Json("stop"));
  EXPECT_EQ(*lines.back().find("prompt_eval_count"), Json(5));
  EXPECT_EQ(*lines.back().find("eval_count"), Json(2));
  const auto whole = Json::parse(said(false, ollama_generate_writer, Dialect::kOllama));
  EXPECT_EQ(*whole->find("response"), Json("Yes. "));
  EXPECT_EQ(*whole->find("thinking"), Json("why"));
}

/// An answer that a limit ends within the arguments of a call that a grammar holds.
std::string cut_call(bool streams, bool is_one, Exchange::WriterMaker writer, Dialect dialect) {
  TextJob job = chat_job(streams);
  job.form.holds_calls = job.form.demands_calls = true;
  job.one_call_only = is_one;
  Exchange one(std::move(job), writer, dialect);
  one.write(0, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"so");
  EXPECT_FALSE(one.requests[0].callbacks.cancelled());
  one.finish(0, FinishReason::kMaxTokens);
  return one.body;
}

TEST(Writers, ACallThatALimitCutsIsNotReportedAsAWholeOne) {
  for (const bool is_one : {false, true}) {
    SCOPED_TRACE(is_one);
    const auto chat = Json::parse(cut_call(false, is_one, chat_writer, Dialect::kOpenAi));
    EXPECT_EQ(*chat->find("choices")->as_array()[0].find("finish_reason"), Json("length"));
    const std::string chunks = cut_call(true, is_one, chat_writer, Dialect::kOpenAi);
    EXPECT_NE(chunks.find(R"("finish_reason": "length")"), std::string::npos) << chunks;

    const auto message =
        Json::parse(cut_call(false, is_one, anthropic_writer, Dialect::kAnthropic));
    EXPECT_EQ(*message->find("stop_reason"), Json("max_tokens"));
    EXPECT_EQ(*message->find("content"), Json(Json::Array{})) << "no input that nobody wrote";
    const std::string blocks = cut_call(true, is_one, anthropic_writer, Dialect::kAnthropic);
    EXPECT_NE(blocks.find(R"("stop_reason": "max_tokens")"), std::string::npos) << blocks;
    EXPECT_NE(blocks.find("content_block_stop"), std::string::npos) << blocks;

    const auto response = Json::parse(cut_call(false, is_one, responses_writer, Dialect::kOpenAi));
    EXPECT_EQ(*response->find("status"), Json("incomplete"));
    const Json& item = response->find("output")->as_array()[0];
    EXPECT_EQ(*item.find("status"), Json("incomplete"));
    EXPECT_EQ(*item.find("arguments"), Json(R"({"a": "so)"));
    const std::vector<Event> events =
        events_of(cut_call(true, is_one, responses_writer, Dialect::kOpenAi));
    EXPECT_EQ(events.back().type, "response.incomplete");
    EXPECT_EQ(*events[events.size() - 2].data.find("item")->find("status"), Json("incomplete"));

    const auto line = Json::parse(cut_call(false, is_one, ollama_chat_writer, Dialect::kOllama));
    EXPECT_EQ(*line->find("done_reason"), Json("length"));
    EXPECT_EQ(line->find("message")->find("tool_calls"), nullptr);
    const std::string lines = cut_call(true, is_one, ollama_chat_writer, Dialect::kOllama);
    EXPECT_EQ(lines.find("tool_calls"), std::string::npos) << lines;
  }
}

TEST(Writers, ADemandedCallThatIsCutBeforeItsNameIsNoContent) {
  for (const bool streams : {false, true}) {
    TextJob job = chat_job(streams);
    job.form.holds_calls = job.form.demands_calls = true;
    Exchange one(std::move(job));
    one.write(0, "<tool_call>\n{\"name\": \"get_weat");
    one.finish(0, FinishReason::kMaxTokens);
    EXPECT_EQ(one.body.find("get_weat"), std::string::npos) << one.body;
    EXPECT_NE(one.body.find(R"("content": null)"), std::string::npos) << one.body;
    EXPECT_NE(one.body.find(R"("finish_reason": "length")"), std::string::npos) << one.body;
  }
}

TEST(Writers, ChannelsAreReasoningContentAndCalls) {
  const auto told = [](bool streams, Exchange::WriterMaker writer, Dialect dialect) {
    TextJob job = chat_job(streams);
    job.form.has_channels = true;
    job.form.tools = &*std::ranges::find(tool_families(), "harmony", &ToolFamily::name);
    const std::string_view marks[] = {kStartMark, kChannelMark, kMessageMark, kEndMark};
    const uint32_t start = tokenizer().vocab_size(), channel = start + 1, body = start + 2,
                   end = start + 3;
    for (const std::string_view mark : marks) {
      job.marks.push_back({start + uint32_t(job.marks.size()), std::string(mark), true});
    }
    Exchange one(std::move(job), writer, dialect);
    const auto message = [&](std::string_view header, std::string_view text) {
      one.requests[0].callbacks.token(channel, nullptr);
      one.write(0, header);
      one.requests[0].callbacks.token(body, nullptr);
      one.write(0, text);
    };
    message("analysis", "why");
    one.requests[0].callbacks.token(end, nullptr);
    one.requests[0].callbacks.token(start, nullptr);
    one.write(0, "assistant");
    message("commentary", "Yes. ");
    one.requests[0].callbacks.token(end, nullptr);
    one.requests[0].callbacks.token(start, nullptr);
    one.write(0, "assistant");
    message("commentary to=functions.f", R"({"a": 1})");
    one.finish(0);
    return one.body;
  };
  const Json chat = *Json::parse(told(false, chat_writer, Dialect::kOpenAi));
  const Json& choice = chat.find("choices")->as_array()[0];
  EXPECT_EQ(*choice.find("finish_reason"), Json("tool_calls"));
  EXPECT_EQ(*choice.find("message")->find("reasoning_content"), Json("why"));
  EXPECT_EQ(*choice.find("message")->find("content"), Json("Yes. "));
  const Json blocks = *Json::parse(told(false, anthropic_writer, Dialect::kAnthropic));
  const Json::Array& content = blocks.find("content")->as_array();
  ASSERT_EQ(content.size(), 3u);
  EXPECT_EQ(*content[0].find("thinking"), Json("why"));
  EXPECT_EQ(*content[1].find("text"), Json("Yes. "));
  EXPECT_EQ(*content[2].find("input"), *Json::parse(R"({"a": 1})"));
  const std::vector<Event> events = events_of(told(true, responses_writer, Dialect::kOpenAi));
  EXPECT_EQ(texts(events, "response.reasoning_text.delta", "delta"), "why");
  EXPECT_EQ(texts(events, "response.output_text.delta", "delta"), "Yes. ");
  EXPECT_EQ(texts(events, "response.function_call_arguments.delta", "delta"), R"({"a": 1})");
  const Json line = *Json::parse(told(false, ollama_chat_writer, Dialect::kOllama));
  EXPECT_EQ(*line.find("message")->find("thinking"), Json("why"));
}

TEST(Writers, TheTextThatALimitCutsIsAnIncompleteItem) {
  for (const bool streams : {false, true}) {
    Exchange one(chat_job(streams), responses_writer, Dialect::kOpenAi);
    one.write(0, "<think>why</think>Yes, so");
    one.finish(0, FinishReason::kMaxTokens);
    const Json response =
        streams ? *events_of(one.body).back().data.find("response") : *Json::parse(one.body);
    const Json::Array& items = response.find("output")->as_array();
    EXPECT_EQ(*items[0].find("status"), Json("completed"));
    EXPECT_EQ(*items[1].find("status"), Json("incomplete"));
  }
}

TEST(Writers, AnErrorOnTheWayIsTheLastEvent) {
  const struct {
    Exchange::WriterMaker writer;
    Dialect dialect;
    const char* start;
  } cases[] = {
      {chat_writer, Dialect::kOpenAi, "data: {\"error\": {\"message\": \"Gone.\""},
      {responses_writer, Dialect::kOpenAi, "event: error\ndata: {\"type\": \"error\""},
      {anthropic_writer, Dialect::kAnthropic, "event: error\ndata: {\"type\": \"error\""},
      {ollama_chat_writer, Dialect::kOllama, "{\"error\": \"Gone.\"}"},
  };
  for (const auto& [writer, dialect, start] : cases) {
    Exchange one(chat_job(true), writer, dialect);
    one.write(0, "Yes");
    const size_t before = one.body.size();
    one.requests[0].done(Failure(Error{ErrorCode::kDeviceLost, "Gone."}));
    EXPECT_TRUE(std::string_view(one.body).substr(before).starts_with(start)) << one.body;
    EXPECT_EQ(one.ends, 1u);
  }
}

std::unique_ptr<AnswerWriter> shaped_writer(AnswerHead head) {
  head.call_shapes = *Json::parse(R"({"patch": {"type": "custom"},
      "mcp__files__read": {"namespace": "mcp__files__", "name": "read"}})");
  return responses_writer(std::move(head));
}

TEST(Writers, CallsGoBackInTheFormInWhichTheClientKnowsTheTool) {
  const std::string calls =
      "<tool_call>{\"name\": \"patch\", \"arguments\": {\"input\": \"a\\nb\"}}</tool_call>"
      "<tool_call>{\"name\": \"mcp__files__read\", \"arguments\": {\"a\": 1}}</tool_call>";
  Exchange whole(chat_job(false), shaped_writer);
  whole.write(0, calls);
  whole.finish(0);
  const Json output = *Json::parse(whole.body)->find("output");
  const Json& custom = output.as_array().at(0);
  EXPECT_EQ(*custom.find("type"), Json("custom_tool_call"));
  EXPECT_EQ(*custom.find("name"), Json("patch"));
  EXPECT_EQ(*custom.find("input"), Json("a\nb"));
  EXPECT_EQ(custom.find("arguments"), nullptr);
  const Json& named = output.as_array().at(1);
  EXPECT_EQ(*named.find("type"), Json("function_call"));
  EXPECT_EQ(*named.find("namespace"), Json("mcp__files__"));
  EXPECT_EQ(*named.find("name"), Json("read"));
  EXPECT_EQ(*Json::parse(named.find("arguments")->as_string()), *Json::parse("{\"a\": 1}"));

  Exchange streamed(chat_job(true), shaped_writer);
  streamed.write(0, calls);
  streamed.finish(0);
  const auto events = events_of(streamed.body);
  EXPECT_EQ(texts(events, "response.custom_tool_call_input.delta", "delta"), "a\nb");
  EXPECT_EQ(texts(events, "response.custom_tool_call_input.done", "input"), "a\nb");
  EXPECT_EQ(texts(events, "response.function_call_arguments.done", "name"), "read");
  EXPECT_EQ(events.back().type, "response.completed");
  EXPECT_EQ(events.back().data.find("response")->find("output")->as_array().size(), 2u);
}

std::unique_ptr<AnswerWriter> opaque_writer(AnswerHead head) {
  head.has_opaque_reasoning = true;
  return responses_writer(std::move(head));
}

TEST(Writers, ThoughtsComeBackFromClientsThatLeaveTheirTextOut) {
  Exchange one(chat_job(false), opaque_writer);
  one.write(0, kWords);
  one.finish(0);
  Json item = Json::parse(one.body)->find("output")->as_array().at(0);
  ASSERT_EQ(*item.find("type"), Json("reasoning"));
  *item.find("content") = Json();  // as Codex sends it
  Json input =
      Json::Array{std::move(item), *Json::parse(R"({"role": "assistant", "content": ""})")};
  const auto read =
      read_text_body(Json(Json::Object{{"input", std::move(input)}}).dump(), kResponses);
  ASSERT_TRUE(read) << read.error().message;
  const Json& message = read->fields.messages.as_array().at(0);
  ASSERT_NE(message.find("reasoning_content"), nullptr);
  EXPECT_NE(message.find("reasoning_content")->as_string().find("why"), std::string::npos);
}

std::unique_ptr<AnswerWriter> shaped_chat_writer(AnswerHead head) {
  head.call_shapes = *Json::parse(R"({"patch": {"type": "custom"}})");
  return chat_writer(std::move(head));
}

TEST(Writers, AChatCallsCustomToolsWithTheirText) {
  const std::string call =
      "<tool_call>{\"name\": \"patch\", \"arguments\": {\"input\": \"a\\nb\"}}</tool_call>";
  Exchange whole(chat_job(false), shaped_chat_writer);
  whole.write(0, call);
  whole.finish(0);
  const Json made = whole.choice(0).find("message")->find("tool_calls")->as_array().at(0);
  EXPECT_EQ(*made.find("type"), Json("custom"));
  EXPECT_EQ(*made.find("custom"), *Json::parse(R"({"name": "patch", "input": "a\nb"})"));

  Exchange streamed(chat_job(true), shaped_chat_writer);
  streamed.write(0, call);
  streamed.finish(0);
  std::string input;
  for (const Event& event : events_of(streamed.body)) {
    const Json* choices = event.data.find("choices");
    if (choices == nullptr || choices->as_array().empty()) continue;
    const Json* calls = choices->as_array()[0].find("delta")->find("tool_calls");
    if (calls != nullptr) input += calls->as_array()[0].find("custom")->find("input")->as_string();
  }
  EXPECT_EQ(input, "a\nb");
}

}  // namespace
}  // namespace tokamak::protocol
