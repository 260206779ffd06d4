// What clients are told about the model.
#include "base/ascii.h"
#include "openai/ollama_time.h"
#include "openai/plain_answers.h"

namespace tokamak::openai {
namespace {

std::string default_template(const Engine& engine) {
  return chat_template_named(engine.files(), "default").value_or("");
}

uint64_t bytes_of(const Engine& engine) {
  uint64_t bytes = 0;
  for (const auto& tensor : engine.files().tensors.tensors()) bytes += tensor.bytes;
  return bytes;
}

/// "gemma3" of "Gemma3ForCausalLM", as Ollama calls families.
std::string family_of(const Engine& engine) {
  const std::string& architecture = engine.compiled().facts.architecture;
  return ascii_lower(architecture.substr(0, architecture.find("For")));
}

Json details(const Engine& engine) {
  const std::string family = family_of(engine);
  return Json(Json::Object{{"parent_model", ""},
                           {"format", engine.files().vocab ? "gguf" : "safetensors"},
                           {"family", family},
                           {"families", Json::Array{family}}});
}

Json listed(const Engine& engine, const ModelAbout& about) {
  return Json(Json::Object{{"name", about.id},
                           {"model", about.id},
                           {"size", bytes_of(engine)},
                           {"details", details(engine)}});
}

Json list_of(Json model) {
  return Json(Json::Object{{"models", Json::Array{std::move(model)}}});
}

}  // namespace

Json props(const Engine& engine, const ModelAbout& about, const ChatForm& chat) {
  return Json(Json::Object{
      {"model", about.id},
      {"context", engine.compiled().context},
      {"chat_template", default_template(engine)},
      {"tool_calls", chat.is_generic ? std::string_view("generic") : chat.tools->name},
      {"reasoning", chat.reasoning_open.empty() ? Json() : Json(chat.reasoning_open)}});
}

Json ollama_tags(const Engine& engine, const ModelAbout& about) {
  Json model = listed(engine, about);
  model.set("modified_at", utc_time(about.created));
  return list_of(std::move(model));
}

Json ollama_ps(const Engine& engine, const ModelAbout& about) {
  constexpr int64_t kYear = 365 * 24 * 3600;  // it stays as long as the service does
  Json model = listed(engine, about);
  model.set("expires_at", utc_time(about.now + kYear));
  model.set("size_vram", engine.device().backend == BackendKind::kCpu ? 0 : bytes_of(engine));
  model.set("context_length", engine.compiled().context);
  return list_of(std::move(model));
}

Json ollama_show(const Engine& engine, const ModelAbout& about, const ChatForm& chat) {
  const std::string family = family_of(engine);
  Json::Array capabilities;
  if (engine.compiled().encoder) {
    capabilities.push_back("embedding");
  } else {
    capabilities = {"completion", "tools"};
    if (!chat.reasoning_open.empty()) capabilities.push_back("thinking");
    if (engine.check_images()) capabilities.push_back("vision");
  }
  Json info(Json::Object{{"general.architecture", family}});
  info.set(family + ".context_length", engine.compiled().context);
  info.set(family + ".embedding_length", engine.compiled().facts.hidden);
  return Json(Json::Object{{"modified_at", utc_time(about.created)},
                           {"template", default_template(engine)},
                           {"parameters", ""},
                           {"details", details(engine)},
                           {"model_info", std::move(info)},
                           {"capabilities", std::move(capabilities)}});
}

}  // namespace tokamak::openai
