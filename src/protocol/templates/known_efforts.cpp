#include "protocol/templates/known_efforts.h"

#include "engine/engine.h"
#include "protocol/chat/thinking.h"

namespace tokamak::protocol {
namespace {

bool renders_with(const ModelFiles& files, std::string_view effort) {
  Json variables = *Json::parse(
      R"({"messages": [{"role": "user", "content": "a"}], "add_generation_prompt": true})");
  variables.set("reasoning_effort", effort);
  return render_chat(files, variables).has_value();
}

bool names(std::string_view chat_template, std::string_view word) {
  return chat_template.find(fmt::format("'{}'", word)) != chat_template.npos ||
         chat_template.find(fmt::format("\"{}\"", word)) != chat_template.npos;
}

}  // namespace

std::vector<std::string> known_efforts(const ModelFiles& files, std::string_view chat_template) {
  std::vector<std::string> out;
  if (chat_template.find("reasoning_effort") == chat_template.npos) return out;
  for (const std::string_view effort : kEfforts) {
    const bool is_usual = effort == "low" || effort == "medium" || effort == "high";
    if ((is_usual || names(chat_template, effort)) && renders_with(files, effort)) {
      out.emplace_back(effort);
    }
  }
  return out;
}

}  // namespace tokamak::protocol
