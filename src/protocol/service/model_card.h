// The entries of models for clients, whether the models are in memory or not.
#pragma once
#include <span>

#include "engine/engine.h"
#include "protocol/templates/chat_form.h"

namespace tokamak::protocol {

struct ModelCard {
  std::string id;
  std::string parent;                 // of an adapter: the id of its model
  std::vector<std::string> adapters;  // that requests may name in place of the model
  int64_t created = 0;                // unix seconds
  uint64_t bytes = 0;                 // of its weights
  std::string format, family;
  /// 64 digits that are others for other weights' names, types and shapes, and other templates.
  std::string digest;
  std::string parameters, quantization;  // "1.5B"; the type that most bytes have: "Q4_K"
  uint32_t context = 0, hidden = 0;      // 0: not known
  std::string chat_template;
  std::vector<std::string> capabilities;  // as Ollama calls them
};
/// Capabilities that Ollama's models do not have.
inline constexpr const char* kSpeechCapability = "speech";
inline constexpr const char* kTranscriptionCapability = "transcription";

ModelCard model_card(const ModelFiles& files, const Engine::Compiled& compiled,
                     const ChatForm& chat);

/// A model that is in memory, or on its way there.
struct ResidentModel {
  const ModelCard* card = nullptr;
  uint64_t bytes = 0;   // that it takes
  bool is_gpu = false;  // of the GPU's memory
  int64_t expires = 0;  // unix seconds
  Json::Object more;    // beyond Ollama's members
};

/// The model's adapter of that name, which may end in ":latest"; "": it is none.
std::string asked_adapter(const ModelCard& card, std::string_view name);
/// The card of the model by another of its names, or of an adapter.
ModelCard called(const ModelCard& card, const std::string& name);

// OpenAI's list and its items.
Json model_json(const ModelCard& card);
Json models_json(std::span<const ModelCard> cards);

// Ollama's.
Json ollama_tags(std::span<const ModelCard> cards);
Json ollama_ps(std::span<const ResidentModel> models);
Json ollama_show(const ModelCard& card);

/// Model, context, chat template, and how calls and reasoning are read.
Json props(const ModelCard& card, const ChatForm& chat);

}  // namespace tokamak::protocol
