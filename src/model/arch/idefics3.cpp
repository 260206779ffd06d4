// The text of Idefics 3 and SmolVLM. Reference:
// transformers/models/idefics3/modeling_idefics3.py.
//
// Llama, whose fields stand in text_config.
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {

Result<DecoderSpec> read_idefics3(const ConfigReader& whole) {
  ConfigReader config = whole.at("text_config");
  const std::string type = config.word("model_type", "llama");
  TOK_TRY(refuse_flag(config, "qk_layer_norms", "without norms of heads"));
  TOK_TRY(DecoderSpec c, read_llama(config));
  if (type != "llama") {
    return unsupported("{} is \"{}\"; this engine runs this architecture with the text of llama.",
                       config.path("model_type"), type);
  }
  c.architecture = "Idefics3ForConditionalGeneration";
  c.tied = read_tied(whole, config, false);
  ConfigReader own = whole;
  const uint32_t vocab = own.size("vocab_size", c.vocab);
  TOK_TRY(own.status());
  TOK_TRY(config.status());
  if (vocab != c.vocab) {
    return invalid_input("{} is {}, but {} is {}.", own.path("vocab_size"), vocab,
                         config.path("vocab_size"), c.vocab);
  }
  return c;
}

}  // namespace tokamak
