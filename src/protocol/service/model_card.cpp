#include "protocol/service/model_card.h"

#include <algorithm>
#include <map>

#include "base/ascii.h"
#include "base/hash.h"
#include "protocol/ollama/time.h"
#include "protocol/requests/requested_model.h"

namespace tokamak::protocol {
namespace {

/// "gemma3" of "Gemma3ForCausalLM", as Ollama calls families.
std::string family_of(const std::string& architecture) {
  return ascii_lower(architecture.substr(0, architecture.find("For")));
}

Json details(const ModelCard& card) {
  return Json(Json::Object{{"parent_model", card.parent},
                           {"format", card.format},
                           {"family", card.family},
                           {"families", Json::Array{card.family}},
                           {"parameter_size", card.parameters},
                           {"quantization_level", card.quantization}});
}

Json listed(const ModelCard& card, uint64_t bytes) {
  return Json(Json::Object{{"name", card.id},
                           {"model", card.id},
                           {"size", bytes},
                           {"digest", card.digest},
                           {"details", details(card)}});
}

/// "1.5B", "596.05M", "12K", as Ollama writes counts.
std::string count_text(uint64_t count) {
  const auto number = double(count);
  if (number >= 1e9) return fmt::format("{:.1f}B", number / 1e9);
  if (number >= 1e6) return fmt::format("{:.2f}M", number / 1e6);
  return number >= 1e3 ? fmt::format("{:.0f}K", number / 1e3) : std::to_string(count);
}

/// Not of the contents, which may be many gigabytes.
std::string digest_of(const std::string& text) {
  std::string out;
  for (uint64_t part = 0; part < 4; ++part) {
    out += fmt::format("{:016x}", hash_bytes(std::span<const char>(text), kHashStart + part));
  }
  return out;
}

/// Sets the members that follow from the tensors' names, types and shapes.
void read_weights(const ModelFiles& files, ModelCard& card) {
  uint64_t elements = 0;
  std::string all;
  std::map<DType, uint64_t> bytes;
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    card.bytes += tensor.bytes;
    elements += tensor.elements();
    bytes[tensor.dtype] += tensor.bytes;
    all += fmt::format("{} {} {}\n", tensor.name, describe(tensor), tensor.offset);
  }
  card.parameters = count_text(elements);
  card.digest = digest_of(all + card.chat_template);
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; });
  if (most == bytes.end()) return;
  card.quantization = dtype_name(most->first);
  std::ranges::transform(card.quantization, card.quantization.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
}

}  // namespace

ModelCard model_card(const ModelFiles& files, const Engine::Compiled& compiled,
                     const ChatForm& chat) {
  ModelCard card;
  card.chat_template = chat_template_named(files, "default").value_or("");
  read_weights(files, card);
  card.format = files.vocab ? "gguf" : "safetensors";
  card.family = family_of(compiled.facts.architecture);
  card.context = compiled.context;
  card.hidden = compiled.facts.hidden;
  for (const LoraFiles& adapter : files.adapters) card.adapters.push_back(adapter.name);
  if (compiled.encoder) {
    card.capabilities = {"embedding"};
    return card;
  }
  if (compiled.is_for_sound()) {
    card.capabilities = {compiled.voice ? kSpeechCapability : kTranscriptionCapability};
    return card;
  }
  card.capabilities = {"completion", "tools"};
  if (chat.has_channels || !chat.reasoning_open.empty()) card.capabilities.emplace_back("thinking");
  if (compiled.vision) card.capabilities.emplace_back("vision");
  return card;
}

std::string asked_adapter(const ModelCard& card, std::string_view name) {
  const auto found = std::ranges::find_if(
      card.adapters, [&](const std::string& one) { return is_name_of(name, {one}); });
  return found == card.adapters.end() ? "" : *found;
}

ModelCard called(const ModelCard& card, const std::string& name) {
  ModelCard out = card;
  out.id = name;
  if (!asked_adapter(card, name).empty()) {
    out.parent = card.id;
    out.digest = digest_of(card.digest + name);
  }
  return out;
}

Json model_json(const ModelCard& card) {
  Json out(Json::Object{
      {"id", card.id}, {"object", "model"}, {"created", card.created}, {"owned_by", "tokamak"}});
  if (!card.parent.empty()) out.set("parent", card.parent);
  if (card.context != 0) out.set("max_model_len", card.context);
  return out;
}

Json models_json(std::span<const ModelCard> cards) {
  Json::Array data;
  for (const ModelCard& card : cards) data.push_back(model_json(card));
  return Json(Json::Object{{"object", "list"}, {"data", std::move(data)}});
}

Json ollama_tags(std::span<const ModelCard> cards) {
  Json::Array models;
  for (const ModelCard& card : cards) {
    models.push_back(listed(card, card.bytes).set("modified_at", utc_time(card.created)));
  }
  return Json(Json::Object{{"models", std::move(models)}});
}

Json ollama_ps(std::span<const ResidentModel> models) {
  Json::Array all;
  for (const ResidentModel& model : models) {
    Json one = listed(*model.card, model.bytes);
    one.set("expires_at", utc_time(model.expires));
    one.set("size_vram", model.is_gpu ? model.bytes : 0);
    one.set("context_length", model.card->context);
    for (const auto& [name, value] : model.more) one.set(name, value);
    all.push_back(std::move(one));
  }
  return Json(Json::Object{{"models", std::move(all)}});
}

Json ollama_show(const ModelCard& card) {
  Json::Array capabilities(card.capabilities.begin(), card.capabilities.end());
  Json info(Json::Object{{"general.architecture", card.family}});
  info.set(card.family + ".context_length", card.context);
  info.set(card.family + ".embedding_length", card.hidden);
  return Json(Json::Object{{"modified_at", utc_time(card.created)},
                           {"template", card.chat_template},
                           {"parameters", ""},
                           {"details", details(card)},
                           {"model_info", std::move(info)},
                           {"capabilities", std::move(capabilities)}});
}

Json props(const ModelCard& card, const ChatForm& chat) {
  return Json(
      Json::Object{{"model", card.id},
                   {"context", card.context},
                   {"chat_template", card.chat_template},
                   {"tool_calls", chat.is_generic ? std::string_view("generic") : chat.tools->name},
                   {"reasoning", chat.has_channels             ? Json("channels")
                                 : chat.reasoning_open.empty() ? Json()
                                                               : Json(chat.reasoning_open)}});
}

}  // namespace tokamak::protocol
