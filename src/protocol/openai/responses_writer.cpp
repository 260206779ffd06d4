// OpenAI's Responses: an answer is a list of items, and a stream numbers its events and says where
// each item and each of its parts begins and ends.
#include "protocol/openai/call_shapes.h"
#include "protocol/openai/opaque_reasoning.h"
#include "protocol/openai/writers.h"

namespace tokamak::protocol {
namespace {

using Kind = OutputPart::Kind;

Json part_json(Kind kind, const std::string& text) {
  if (kind == Kind::kReasoning) {
    return Json(Json::Object{{"type", "reasoning_text"}, {"text", text}});
  }
  return Json(Json::Object{{"type", "output_text"},
                           {"text", text},
                           {"annotations", Json::Array{}},
                           {"logprobs", Json::Array{}}});
}

Json usage_json(const Usage& usage) {
  return Json(Json::Object{
      {"input_tokens", usage.prompt_tokens},
      {"input_tokens_details", Json(Json::Object{{"cached_tokens", usage.cached_tokens}})},
      {"output_tokens", usage.completion_tokens},
      {"output_tokens_details", Json(Json::Object{{"reasoning_tokens", usage.reasoning_tokens}})},
      {"total_tokens", usage.prompt_tokens + usage.completion_tokens}});
}

class ResponsesWriter : public AnswerWriter {
 public:
  using AnswerWriter::AnswerWriter;

  std::string begin(size_t, Completion&) override {
    std::string out = whole_event("response.created", response_json("in_progress"));
    out += whole_event("response.in_progress", response_json("in_progress"));
    return out;
  }
  std::string part(size_t, Completion& completion, const OutputPart& part) override {
    std::string out;
    if (completion.items.size() > ids_.size()) {
      out += close_item(completion);
      out += open_item(completion);
    }
    switch (part.kind) {
      case Kind::kReasoning:
        return out + part_event("response.reasoning_text.delta", {{"delta", part.text}});
      case Kind::kContent:
        return out + part_event("response.output_text.delta",
                                {{"delta", part.text}, {"logprobs", Json::Array{}}});
      case Kind::kCallArguments:
        if (shape_of(completion.items.back()).is_custom)
          return out;  // its text comes whole, at the end
        return out + item_event("response.function_call_arguments.delta", {{"delta", part.text}});
      case Kind::kCallBegin:
        return out;
      case Kind::kCallEnd:
      case Kind::kCallCut:
        break;
    }
    return close_item(completion);
  }
  std::string end(size_t, Completion& completion) override { return close_item(completion); }
  std::string finish(std::span<const Completion> completions, const Usage& usage) override {
    const Json response = finished(completions[0], usage);
    const bool is_cut = completions[0].finish == Finish::kLength;
    return whole_event(is_cut ? "response.incomplete" : "response.completed", response);
  }
  std::string error(const ApiError& error) const override {
    Json data(Json::Object{{"type", "error"}, {"sequence_number", sequence_}});
    const Json body = error.body(Dialect::kOpenAi);
    for (const char* name : {"code", "message", "param"}) {
      data.set(name, *body.find("error")->find(name));
    }
    return event(data, "error");
  }
  Json whole(std::span<const Completion> completions, const Usage& usage) override {
    return finished(completions[0], usage);
  }

 private:
  Json item_json(const CompletionItem& item, size_t index, bool is_whole) {
    const char* status = !is_whole ? "in_progress" : item.is_cut ? "incomplete" : "completed";
    const std::string& id = id_of(item, index);
    Json out(Json::Object{{"id", id}});
    if (item.kind == Kind::kCallBegin) {
      const CallShape shape = shape_of(item);
      const std::string text = !is_whole         ? ""
                               : shape.is_custom ? custom_input(item.text)
                                                 : item.text;
      out.set("type", shape.is_custom ? "custom_tool_call" : "function_call");
      out.set("status", status).set("call_id", item.id).set("name", shape.name);
      if (!shape.outer.empty()) out.set("namespace", shape.outer);
      return out.set(shape.is_custom ? "input" : "arguments", text);
    }
    Json::Array parts;
    if (is_whole) parts.push_back(part_json(item.kind, item.text));
    if (item.kind == Kind::kReasoning) {
      out.set("type", "reasoning").set("summary", Json::Array{}).set("status", status);
      if (is_whole && head().has_opaque_reasoning) {
        out.set("encrypted_content", opaque_reasoning(item.text));
      }
    } else {
      out.set("type", "message").set("status", status).set("role", "assistant");
    }
    return out.set("content", std::move(parts));
  }
  CallShape shape_of(const CompletionItem& item) const {
    return call_shape(head().call_shapes, item.name);
  }
  const std::string& id_of(const CompletionItem& item, size_t index) {
    while (ids_.size() <= index) {
      const char* prefix = item.kind == Kind::kCallBegin ? shape_of(item).is_custom ? "ctc_" : "fc_"
                           : item.kind == Kind::kReasoning ? "rs_"
                                                           : "msg_";
      ids_.push_back(random_id(prefix, head().random));
    }
    return ids_[index];
  }

  Json response_json(std::string_view status) const {
    return Json(Json::Object{{"id", head().id},
                             {"object", "response"},
                             {"created_at", head().created},
                             {"status", status},
                             {"error", nullptr},
                             {"incomplete_details", nullptr},
                             {"model", head().model},
                             {"output", Json::Array{}},
                             {"usage", nullptr}});
  }
  Json finished(const Completion& completion, const Usage& usage) {
    const bool is_cut = completion.finish == Finish::kLength;
    Json out = response_json(is_cut ? "incomplete" : "completed");
    Json::Array& items = out.find("output")->as_array();
    for (size_t i = 0; i < completion.items.size(); ++i) {
      items.push_back(item_json(completion.items[i], i, true));
      if (head().keep) head().keep(items.back());
    }
    if (is_cut) {
      *out.find("incomplete_details") = Json(Json::Object{{"reason", "max_output_tokens"}});
    }
    *out.find("usage") = usage_json(usage);
    return out;
  }

  std::string numbered(std::string_view type, Json::Object members) {
    Json data(Json::Object{{"type", type}, {"sequence_number", sequence_++}});
    for (auto& [name, value] : members) data.set(std::move(name), std::move(value));
    return event(data, type);
  }
  std::string whole_event(std::string_view type, Json response) {
    return numbered(type, {{"response", std::move(response)}});
  }
  /// An event about the last item.
  std::string item_event(std::string_view type, Json::Object members) {
    Json::Object all = {{"item_id", ids_.back()}, {"output_index", uint64_t(ids_.size() - 1)}};
    for (auto& member : members) all.push_back(std::move(member));
    return numbered(type, std::move(all));
  }
  /// An event about its only part.
  std::string part_event(std::string_view type, Json::Object members) {
    members.insert(members.begin(), {"content_index", 0});
    return item_event(type, std::move(members));
  }

  std::string open_item(const Completion& completion) {
    const CompletionItem& item = completion.items.back();
    is_open_ = true;
    Json begun = item_json(item, completion.items.size() - 1, false);
    std::string out = numbered(
        "response.output_item.added",
        {{"output_index", uint64_t(completion.items.size() - 1)}, {"item", std::move(begun)}});
    if (item.kind == Kind::kCallBegin) return out;
    return out + part_event("response.content_part.added", {{"part", part_json(item.kind, "")}});
  }
  std::string close_item(const Completion& completion) {
    if (!std::exchange(is_open_, false)) return {};
    const size_t index = ids_.size() - 1;
    const CompletionItem& item = completion.items[index];
    std::string out;
    if (item.kind == Kind::kCallBegin && shape_of(item).is_custom) {
      const std::string input = custom_input(item.text);
      out = item_event("response.custom_tool_call_input.delta", {{"delta", input}});
      out += item_event("response.custom_tool_call_input.done", {{"input", input}});
    } else if (item.kind == Kind::kCallBegin) {
      out = item_event("response.function_call_arguments.done",
                       {{"name", shape_of(item).name}, {"arguments", item.text}});
    } else {
      const bool is_reasoning = item.kind == Kind::kReasoning;
      out =
          part_event(is_reasoning ? "response.reasoning_text.done" : "response.output_text.done",
                     is_reasoning ? Json::Object{{"text", item.text}}
                                  : Json::Object{{"text", item.text}, {"logprobs", Json::Array{}}});
      out += part_event("response.content_part.done", {{"part", part_json(item.kind, item.text)}});
    }
    return out + numbered("response.output_item.done", {{"output_index", uint64_t(index)},
                                                        {"item", item_json(item, index, true)}});
  }

  std::vector<std::string> ids_;  // of the items that have begun
  uint64_t sequence_ = 0;
  bool is_open_ = false;
};

}  // namespace

std::unique_ptr<AnswerWriter> responses_writer(AnswerHead head) {
  return std::make_unique<ResponsesWriter>(std::move(head));
}

}  // namespace tokamak::protocol
