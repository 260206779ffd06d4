#include "mcp/session.h"

#include <algorithm>
#include <utility>

namespace tokamak::mcp {
namespace {

// JSON-RPC's.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602;

/// Versions whose messages are these; the first is offered to a client that asks for another one.
constexpr std::string_view kVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
/// The first without batches; dates in this form are in the order of their texts.
constexpr std::string_view kNoBatches = "2025-06-18";

/// Clients that wait for an answer see that it comes; each of its tokens would be too much.
constexpr uint64_t kPiecesPerProgress = 8;

bool is_id(const Json& id) {
  return id.is_string() || id.is_number();
}

std::string text_in(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

const Json& member(const Json& object, std::string_view name) {
  static const Json kNull;
  const Json* found = object.find(name);
  return found == nullptr ? kNull : *found;
}

Json text_content(std::string_view text) {
  return Json::Array{Json(Json::Object{{"type", "text"}, {"text", text}})};
}

/// A failure within a tool is a result: the model that called it is to read it.
Json failure(std::string_view message) {
  return Json(Json::Object{{"content", text_content(message)}, {"isError", true}});
}

/// A text as well, for clients that know no structured results.
Json success(Json structured) {
  std::string text = structured.dump();
  return Json(Json::Object{{"content", text_content(text)},
                           {"structuredContent", std::move(structured)},
                           {"isError", false}});
}

std::string message_of(const Json& body) {
  return text_in(member(body, "error"), "message");
}

}  // namespace

Session::Session(protocol::Service& service, SessionOptions options, Write write)
    : service_(service), options_(std::move(options)), write_(std::move(write)) {}

Session::~Session() {
  for (const auto& [key, call] : calls_) service_.cancel(call.exchange);
}

void Session::receive(std::string_view line) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  const auto message = Json::parse(line);
  if (!message) return refuse(nullptr, kParseError, message.error().message);
  if (message->is_array()) return take_batch(message->as_array());
  take_message(*message);
}

void Session::take_batch(const Json::Array& messages) {
  if (!takes_batches_) {
    return refuse(nullptr, kInvalidRequest,
                  "The version that was agreed on has no batches; send one message a line.");
  }
  if (messages.empty()) return refuse(nullptr, kInvalidRequest, "The batch is empty.");
  const auto batch = std::make_shared<Batch>();
  ++batch->running;  // itself
  batch_ = batch;
  for (const Json& message : messages) take_message(message);
  batch_ = nullptr;
  leave(batch);
}

void Session::leave(const std::shared_ptr<Batch>& batch) {
  if (batch == nullptr || --batch->running > 0 || batch->answers.empty()) return;
  write_(Json(std::move(batch->answers)).dump());
}

void Session::take_message(const Json& message) {
  const Json& id = member(message, "id");
  const std::string method = text_in(message, "method");
  if (text_in(message, "jsonrpc") != "2.0") {
    return refuse(is_id(id) ? id : Json(), kInvalidRequest,
                  "A message is an object with \"jsonrpc\": \"2.0\".");
  }
  if (method.empty()) {
    // An answer: this side asks nothing.
    if (message.find("result") != nullptr || message.find("error") != nullptr) return;
    return refuse(is_id(id) ? id : Json(), kInvalidRequest, "A request has a method, a text.");
  }
  const Json& params = member(message, "params");
  if (message.find("id") == nullptr) return notice(method, params);
  if (!is_id(id)) return refuse(nullptr, kInvalidRequest, "An id is a text or a number.");
  if (!params.is_null() && !params.is_object()) {
    return refuse(id, kInvalidParams, "params is not an object.");
  }
  request(id, method, params);
}

void Session::request(const Json& id, std::string_view method, const Json& params) {
  if (method == "initialize") return answer(id, greeting(params));
  if (method == "ping") return answer(id, Json::Object{});
  if (method == "tools/call") return call(id, params);
  if (method == "tools/list") {
    Json::Array tools;
    for (const Tool& tool : tools_of(options_.is_encoder)) tools.push_back(described(tool));
    return answer(id, Json(Json::Object{{"tools", std::move(tools)}}));
  }
  refuse(id, kMethodNotFound, fmt::format("There is no method {}.", Json(method).dump()));
}

/// Those that are not known are for others, and none is answered.
void Session::notice(std::string_view method, const Json& params) {
  if (method == "notifications/cancelled") cancel(params);
}

Json Session::greeting(const Json& params) {
  const std::string asked = text_in(params, "protocolVersion");
  const auto* const found = std::ranges::find(kVersions, asked);
  const std::string_view version = found == std::end(kVersions) ? *kVersions : *found;
  takes_batches_ = version < kNoBatches;
  Json server(
      Json::Object{{"name", "tokamak"}, {"title", "Tokamak"}, {"version", options_.version}});
  return Json(Json::Object{{"protocolVersion", version},
                           {"capabilities", Json::Object{{"tools", Json::Object{}}}},
                           {"serverInfo", std::move(server)}});
}

void Session::call(const Json& id, const Json& params) {
  std::string key = id.dump();
  if (calls_.contains(key)) {
    return refuse(id, kInvalidRequest, fmt::format("A request with the id {} runs.", key));
  }
  const std::string name = text_in(params, "name");
  const auto tools = tools_of(options_.is_encoder);
  const auto tool = std::ranges::find(tools, name, &Tool::name);
  if (tool == tools.end()) {
    return refuse(id, kInvalidParams, fmt::format("There is no tool {}.", Json(name).dump()));
  }
  const Json& given = member(params, "arguments");
  if (!given.is_null() && !given.is_object()) {
    return refuse(id, kInvalidParams, "arguments is not an object.");
  }
  const auto asked = request_of(*tool, given.is_null() ? Json(Json::Object{}) : given);
  if (!asked) return answer(id, failure(asked.error().message));

  Call& made = calls_[key];
  made.id = id;
  made.tool = &*tool;
  made.batch = batch_;
  if (batch_) ++batch_->running;
  made.progress_token = member(member(params, "_meta"), "progressToken");
  protocol::Sink sink;
  sink.begin = [&made](int status, std::string_view) { made.status = status; };
  sink.write = [this, &made](std::string_view bytes) { take(made, bytes); };
  sink.end = [this, key] { end(key); };
  const auto exchange = service_.begin(*asked, sink);
  while (service_.has_jobs()) service_.run_job();
  // It may have ended by now.
  const auto still = calls_.find(key);
  if (still != calls_.end()) still->second.exchange = exchange;
}

void Session::cancel(const Json& params) {
  const auto found = calls_.find(member(params, "requestId").dump());
  if (found == calls_.end()) return;
  service_.cancel(found->second.exchange);
  const auto node = calls_.extract(found);
  leave(node.mapped().batch);
}

void Session::take(Call& call, std::string_view bytes) {
  call.received += bytes;
  if (call.status != 200 || !call.tool->writes_text()) return;
  for (;;) {
    const size_t end = call.received.find("\n\n");
    if (end == std::string::npos) return;
    take_event(call, std::string_view(call.received).substr(0, end));
    call.received.erase(0, end + 2);
  }
}

void Session::take_event(Call& call, std::string_view event) {
  constexpr std::string_view kData = "data: ";
  if (!event.starts_with(kData)) return;
  const auto chunk = Json::parse(event.substr(kData.size()));
  if (!chunk) return;  // [DONE]
  call.error += message_of(*chunk);
  if (const Json& usage = member(*chunk, "usage"); usage.is_object()) call.usage = usage;
  const Json& choices = member(*chunk, "choices");
  if (!choices.is_array() || choices.as_array().empty()) return;
  const Json& choice = choices.as_array()[0];
  call.finish_reason += text_in(choice, "finish_reason");
  const bool is_chat = call.tool->answers == Answers::kChat;
  call.text += is_chat ? text_in(member(choice, "delta"), "content") : text_in(choice, "text");
  if (call.progress_token.is_null() || ++call.pieces % kPiecesPerProgress != 0) return;
  Json params(Json::Object{{"progressToken", call.progress_token}, {"progress", call.pieces}});
  write_(Json(Json::Object{{"jsonrpc", "2.0"},
                           {"method", "notifications/progress"},
                           {"params", std::move(params)}})
             .dump());
}

void Session::end(const std::string& key) {
  const auto node = calls_.extract(key);
  if (node.empty()) return;
  const Call& call = node.mapped();
  // It may end while other messages are taken.
  const auto before = std::exchange(batch_, call.batch);
  answer(call.id, result_of(call));
  batch_ = before;
  leave(call.batch);
}

Json Session::result_of(const Call& call) const {
  if (!call.error.empty()) return failure(call.error);
  if (call.status == 200 && call.tool->writes_text()) {
    Json made =
        success(Json(Json::Object{{"text", call.text},
                                  {"finish_reason", call.finish_reason},
                                  {"prompt_tokens", member(call.usage, "prompt_tokens")},
                                  {"completion_tokens", member(call.usage, "completion_tokens")}}));
    *made.find("content") = text_content(call.text);
    return made;
  }
  const auto body = Json::parse(call.received);
  if (!body) return failure("The model's answer is incomplete.");
  if (call.status != 200) return failure(message_of(*body));
  const Json& data = member(*body, "data");
  if (call.tool->answers == Answers::kModels) return success(Json(Json::Object{{"models", data}}));
  Json::Array vectors;
  for (const Json& one : data.as_array()) vectors.push_back(member(one, "embedding"));
  return success(
      Json(Json::Object{{"embeddings", std::move(vectors)},
                        {"prompt_tokens", member(member(*body, "usage"), "prompt_tokens")}}));
}

void Session::respond(Json message) {
  if (batch_) return batch_->answers.push_back(std::move(message));
  write_(message.dump());
}

void Session::answer(const Json& id, Json result) {
  respond(Json(Json::Object{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}));
}

void Session::refuse(const Json& id, int code, std::string_view message) {
  Json error(Json::Object{{"code", code}, {"message", message}});
  respond(Json(Json::Object{{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}}));
}

}  // namespace tokamak::mcp
