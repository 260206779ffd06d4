// The text of LLaVA 1.5. Reference: transformers/models/llava/modeling_llava.py; arXiv:2310.03744.
//
// Llama or Mistral, whose fields stand in text_config; published files leave out those that are as
// in the first Llama.
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

/// `given`, with the values of LlamaConfig or MistralConfig for what it lacks.
Json with_defaults(const Json& given) {
  Json all = given;
  const Json* const type = given.find("model_type");
  const bool is_mistral = type != nullptr && *type == Json("mistral");
  for (const auto& [name, value] :
       {std::pair("hidden_size", 4096), std::pair("vocab_size", 32000),
        std::pair("intermediate_size", is_mistral ? 14336 : 11008),
        std::pair("num_hidden_layers", 32), std::pair("num_attention_heads", 32),
        std::pair("num_key_value_heads", is_mistral ? 8 : 0)}) {
    if (value != 0 && all.find(name) == nullptr) all.set(name, value);
  }
  return all;
}

}  // namespace

Result<DecoderSpec> read_llava(const ConfigReader& whole) {
  const Json* const given = whole.find("text_config");
  const Json all = with_defaults(given != nullptr && given->is_object() ? *given : Json::Object());
  ConfigReader config(all, whole.path("text_config"));
  const std::string type = config.word("model_type", "llama");
  TOK_TRY(config.status());
  TOK_TRY(whole.at("text_config").status());
  if (type != "llama" && type != "mistral") {
    return unsupported(
        "{} is \"{}\"; this engine runs this architecture with the text of llama and mistral.",
        config.path("model_type"), type);
  }
  TOK_TRY(DecoderSpec c, type == "llama" ? read_llama(config) : read_mistral(config));
  c.architecture = "LlavaForConditionalGeneration";
  c.tied = read_tied(whole, config, false);
  return c;
}

}  // namespace tokamak
