// tools [MODEL [BACKEND]]: has a model call a tool, and shows the call. MODEL is a folder, or ""
// for the model that is installed with Tokamak.
#include <tokamak/tokamak.h>

#include <cstdio>

namespace {

constexpr const char* kChat = R"({
  "messages": [{"role": "user", "content": "It is too quiet."}],
  "tools": [{"type": "function", "function": {
    "name": "set_volume", "description": "Sets how loud the music is.",
    "parameters": {"type": "object", "required": ["level"],
                   "properties": {"level": {"enum": ["low", "high"]}}}}}],
  "tool_choice": "required", "parallel_tool_calls": false, "temperature": 0, "max_tokens": 200})";

int report(const tokamak::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  tokamak::ModelOptions options;
  if (argc > 1) options.model = argv[1];
  if (argc > 2) options.backend = argv[2];
  auto model = tokamak::Model::open(options);
  if (!model) return report(model.error());

  auto call = model->call("/v1/chat/completions", kChat);
  if (!call) return report(call.error());
  const auto reply = tokamak::read_chat_reply(*call);
  if (!reply) return report(reply.error());
  for (const tokamak::ToolCall& tool : reply->tool_calls) {
    std::printf("%s %s\n", tool.name.c_str(), tool.arguments.c_str());
  }
  std::printf("%s", reply->text.c_str());
}
