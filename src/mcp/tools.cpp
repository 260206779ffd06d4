#include "mcp/tools.h"

namespace tokamak::mcp {
namespace {

/// Clients wait for about a minute, and a model may fill a context of many thousands.
constexpr int kDefaultTokens = 512;

constexpr std::string_view kSampling = R"({
  "max_tokens": {"type": "integer", "minimum": 1, "default": 512,
    "description": "Most tokens of the answer."},
  "temperature": {"type": "number", "minimum": 0, "maximum": 2,
    "description": "0: always the most probable token. The model's own without."},
  "top_p": {"type": "number", "minimum": 0, "maximum": 1,
    "description": "Only the most probable tokens that have this probability together."},
  "top_k": {"type": "integer", "minimum": 0,
    "description": "Only that many of the most probable tokens; 0: all."},
  "seed": {"type": "integer", "description": "The same seed gives the same answer."},
  "stop": {"type": "array", "items": {"type": "string"},
    "description": "Texts that end the answer and are no part of it."}})";

constexpr std::string_view kTextOutput = R"({"type": "object", "properties": {
    "text": {"type": "string"}, "finish_reason": {"type": "string"},
    "prompt_tokens": {"type": "integer"}, "completion_tokens": {"type": "integer"}},
  "required": ["text", "finish_reason", "prompt_tokens", "completion_tokens"]})";

constexpr Tool kModels = {
    .name = "models",
    .title = "List models",
    .description = "Names the model that the other tools use, and how long its context is.",
    .method = "GET",
    .path = "/v1/models",
    .answers = Answers::kModels,
    .required = {},
    .required_schema = {},
    .output = R"({"type": "object", "properties": {
        "models": {"type": "array", "items": {"type": "object"}}}, "required": ["models"]})"};

constexpr Tool kTextTools[] = {
    {.name = "generate",
     .title = "Continue a text",
     .description = "Continues a text with the local model, without a chat template.",
     .method = "POST",
     .path = "/v1/completions",
     .answers = Answers::kCompletion,
     .required = "prompt",
     .required_schema = R"({"type": "string", "description": "What to continue."})",
     .output = kTextOutput},
    {.name = "chat",
     .title = "Ask a local model",
     .description = "Answers the last message of a conversation with the local model.",
     .method = "POST",
     .path = "/v1/chat/completions",
     .answers = Answers::kChat,
     .required = "messages",
     .required_schema = R"({"type": "array", "minItems": 1,
       "description": "The conversation, oldest message first.",
       "items": {"type": "object", "required": ["role", "content"], "properties": {
         "role": {"type": "string", "enum": ["system", "user", "assistant"]},
         "content": {"type": "string"}}}})",
     .output = kTextOutput},
    kModels};

constexpr Tool kVectorTools[] = {
    {.name = "embed",
     .title = "Embed texts",
     .description = "Makes a vector of each text; those of texts that mean alike are alike.",
     .method = "POST",
     .path = "/v1/embeddings",
     .answers = Answers::kVectors,
     .required = "input",
     .required_schema = R"({"type": "array", "minItems": 1, "items": {"type": "string"},
       "description": "The texts."})",
     .output = R"({"type": "object", "properties": {"embeddings": {"type": "array",
         "items": {"type": "array", "items": {"type": "number"}}},
         "prompt_tokens": {"type": "integer"}}, "required": ["embeddings", "prompt_tokens"]})"},
    kModels};

Json properties_of(const Tool& tool) {
  Json properties = tool.writes_text() ? *Json::parse(kSampling) : Json(Json::Object{});
  if (!tool.required.empty()) {
    auto& members = properties.as_object();
    members.emplace(members.begin(), tool.required, *Json::parse(tool.required_schema));
  }
  return properties;
}

}  // namespace

std::span<const Tool> tools_of(bool is_encoder) {
  if (is_encoder) return kVectorTools;
  return kTextTools;
}

Json described(const Tool& tool) {
  Json input(Json::Object{{"type", "object"}, {"properties", properties_of(tool)}});
  if (!tool.required.empty()) input.set("required", Json::Array{Json(tool.required)});
  input.set("additionalProperties", false);
  return Json(Json::Object{{"name", tool.name},
                           {"title", tool.title},
                           {"description", tool.description},
                           {"inputSchema", std::move(input)},
                           {"outputSchema", *Json::parse(tool.output)},
                           {"annotations", Json::Object{{"readOnlyHint", true}}}});
}

Result<protocol::HttpRequest> request_of(const Tool& tool, const Json& arguments) {
  const Json properties = properties_of(tool);
  for (const auto& [name, value] : arguments.as_object()) {
    if (properties.find(name) != nullptr) continue;
    std::string known;
    for (const auto& [other, schema] : properties.as_object()) {
      known += (known.empty() ? "" : ", ") + other;
    }
    return invalid_input("The tool \"{}\" has no argument {}; it has {}.", tool.name,
                         Json(name).dump(), known.empty() ? "none" : known);
  }
  protocol::HttpRequest request{std::string(tool.method), std::string(tool.path), {}};
  if (tool.method == "GET") return request;
  Json body = arguments;
  if (tool.writes_text()) {
    if (body.find("max_tokens") == nullptr) body.set("max_tokens", kDefaultTokens);
    body.set("stream", true);
    body.set("stream_options", Json::Object{{"include_usage", true}});
  }
  request.body = body.dump();
  return request;
}

}  // namespace tokamak::mcp
