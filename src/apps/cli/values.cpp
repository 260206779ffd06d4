// Values that several commands read from their options or write as JSON.
#include <charconv>
#include <cmath>

#include "apps/cli/command.h"

namespace tokamak::cli {

Result<std::vector<uint32_t>> parse_ids(const std::string& text) {
  std::string list = text;
  if (text.starts_with('@')) {
    TOK_TRY(list, read_input(text.substr(1)));
  } else {
    list = "[" + text + "]";
  }
  auto json = Json::parse(list);
  constexpr const char* kExpected = "expected token ids as 1,2,3 or @file with a JSON array";
  if (!json || !json->is_array()) {
    return fail(ErrorCode::kUsage, "--tokens is \"{}\", {}.", text, kExpected);
  }
  std::vector<uint32_t> ids;
  for (const Json& item : json->as_array()) {
    if (!item.is_integer() || item.as_integer() < 0 || item.as_integer() > UINT32_MAX) {
      return fail(ErrorCode::kUsage, "--tokens has the entry {}, {}.", item.dump(), kExpected);
    }
    ids.push_back(uint32_t(item.as_integer()));
  }
  return ids;
}

Json to_json(std::span<const uint32_t> ids) {
  Json::Array list;
  for (const uint32_t id : ids) list.emplace_back(id);
  return list;
}

Json to_json(std::span<const float> values) {
  Json::Array list;
  for (const float value : values) list.push_back(to_json(value));
  return list;
}

Json to_json(float value) {
  if (!std::isfinite(value)) return double(value);
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, value).ptr;
  double shortest = 0;
  std::from_chars(text, end, shortest);
  return shortest;
}

void add_origin(Json& json, const Engine& engine, const std::string& typed) {
  json.set("model", typed.empty() ? "storyteller" : typed);
  json.set("backend", std::string(backend_name(engine.device().backend)));
  json.set("device", engine.device().name);
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kInvalidInput:
      return 3;
    case ErrorCode::kUnsupported:
      return 4;
    case ErrorCode::kDevice:
    case ErrorCode::kDeviceLost:
    case ErrorCode::kOutOfMemory:
      return 5;
    case ErrorCode::kCancelled:
      return 130;
  }
  return 70;
}

}  // namespace tokamak::cli
