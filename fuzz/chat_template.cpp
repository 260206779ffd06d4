// Any bytes as a chat template, rendered with a small conversation under small limits.
#include "text/template/chat_template.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

constexpr std::string_view kVariables = R"({
  "messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Grüße 😀"}]},
    {"role": "assistant", "content": "", "tool_calls": [
      {"id": "abcdefghi", "type": "function",
       "function": {"name": "f", "arguments": {"x": 1, "y": [1.5, true, null]}}}]},
    {"role": "tool", "name": "f", "content": "{\"z\": 2}"}],
  "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {
      "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}}],
  "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>"})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const auto variables = tokamak::Json::parse(kVariables);
  const auto parsed =
      tokamak::ChatTemplate::parse(std::string_view(reinterpret_cast<const char*>(bytes), size));
  if (!parsed) return 0;
  const tokamak::RenderOptions options{.unix_seconds = 1730764800,
                                       .max_steps = 100'000,
                                       .max_memory_bytes = 4'000'000,
                                       .max_output_bytes = 1'000'000};
  static_cast<void>(parsed->render(*variables, options));
  return 0;
}
