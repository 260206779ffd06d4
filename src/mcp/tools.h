// The tools that a model is for other programs: what they take and give, and which request of
// src/protocol a call of them is.
#pragma once
#include <span>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "protocol/requests/sink.h"

namespace tokamak::mcp {

/// The kind of answer to a call's request.
enum class Answers : uint8_t { kCompletion, kChat, kVectors, kModels };

struct Tool {
  std::string_view name, title, description;
  std::string_view method, path;
  Answers answers;
  /// The argument that must be there, and its JSON Schema; both empty where there is none.
  std::string_view required, required_schema;
  std::string_view output;  // JSON Schema of the structured result

  bool writes_text() const { return answers == Answers::kCompletion || answers == Answers::kChat; }
};

/// Those of a model that makes vectors, or of one that writes texts.
std::span<const Tool> tools_of(bool is_encoder);

/// The entry of `tools/list`.
Json described(const Tool& tool);

/// The answer is to come in events where the tool writes a text. Errors: an argument that the tool
/// does not have; what is wrong with their values the service reports.
Result<protocol::HttpRequest> request_of(const Tool& tool, const Json& arguments);

}  // namespace tokamak::mcp
