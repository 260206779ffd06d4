// Apertus. Reference: transformers/models/apertus/modeling_apertus.py and activations.py;
// arXiv:2509.14233, 2411.13010.
//
// The differences from Llama:
//   q and k are normed per head
//   an MLP without a gate, whose activation has two learned numbers in each layer (xIELU)
//   other names of the norms
#include <cmath>

#include "formats/wishes.h"
#include "model/decoder_fields.h"
#include "model/families.h"
#include "model/scalar.h"

namespace tokamak {
namespace {

/// a x^2 + c x above 0, b (exp(x) - 1 - x) + c x below, by what is learned of a and b. The
/// reference ends exp(x) - 1 at -1e-6, which is not visible in f32.
struct Xielu {
  float positive = 0, negative = 0, straight = 0.5f;
};

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

struct ApertusDecoder : TextDecoder {
  ApertusDecoder(ModelBuilder& builder, const ApertusSpec& spec, std::vector<Xielu> all)
      : TextDecoder(builder, spec), xielu(std::move(all)) {}

  ValueId mlp(uint32_t layer, ValueId x) override {
    const ValueId up = b.projection(x, p + std::string(c.names.up), c.ffn, c.mlp_bias);
    // elu(x) - x is exp(x) - 1 - x below 0, and 0 above.
    const Xielu& own = xielu[layer];
    const ValueId above = b.scale(b.activate(Activation::kReluSquared, up), own.positive);
    const ValueId below = b.scale(b.activate(Activation::kElu, up), own.negative);
    const ValueId straight = b.scale(up, own.straight - own.negative);
    const ValueId sum = b.add(b.add(above, below), straight);
    return b.projection(sum, p + std::string(c.names.down), c.hidden, c.mlp_bias);
  }

  std::vector<Xielu> xielu;
};

/// A number of a layer: from config.json, where those of GGUF files are, or a tensor of its own.
Result<float> learned(const TensorFile& file, const std::vector<double>& listed, uint32_t layer,
                      const std::string& name) {
  if (!listed.empty()) return float(listed[layer]);
  if (Wishes::current() == nullptr) return scalar(file, name);
  find_or_wish(file, name, {1});
  return 0.0f;
}

/// A number for each layer, or no list.
Result<std::vector<double>> read_learned(ConfigReader& config, std::string_view name,
                                         uint32_t layers) {
  std::vector<double> numbers;
  const Json* const list = config.find(name);
  if (list == nullptr) return numbers;
  if (list->is_array()) {
    for (const Json& number : list->as_array()) {
      if (number.is_number()) numbers.push_back(number.as_number());
    }
  }
  if (numbers.size() == layers) return numbers;
  return invalid_input("{} has {} numbers, expected {} (num_hidden_layers).", config.path(name),
                       numbers.size(), layers);
}

}  // namespace

Result<ApertusSpec> read_apertus(ConfigReader config) {
  ApertusSpec c{};
  TOK_TRY(static_cast<DecoderSpec&>(c),
          read_decoder(
              config, "ApertusForCausalLM",
              {.max_context = 65536, .eps = 1e-5, .activation_name = "", .activation = "relu2"}));
  const std::string activation = config.word("hidden_act", "xielu");
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  c.plain_mlp = true;
  c.head_norm = HeadNorm::kHeads;
  c.norms.attention = "attention_layernorm";
  c.norms.mlp = "feedforward_layernorm";
  TOK_TRY(c.alpha_p, read_learned(config, "xielu_alpha_p", c.layers));
  TOK_TRY(c.alpha_n, read_learned(config, "xielu_alpha_n", c.layers));
  TOK_TRY(c.beta, read_learned(config, "xielu_beta", c.layers));
  TOK_TRY(config.status());
  if (activation != "xielu") {
    return unsupported("{} is \"{}\"; this architecture has xielu here.", config.path("hidden_act"),
                       activation);
  }
  TOK_TRY(read_decoder_rope(config, c, 12e6));
  return c;
}

Result<Graph> decoder_graph(const ApertusSpec& c, const TensorFile& file,
                            const BuildOptions& options) {
  const std::string prefix = decoder_prefix(file);
  std::vector<Xielu> all;
  for (uint32_t i = 0; i < c.layers; ++i) {
    const std::string at = fmt::format("{}layers.{}.mlp.act_fn.", prefix, i);
    TOK_TRY(const float p, learned(file, c.alpha_p, i, at + "alpha_p"));
    TOK_TRY(const float n, learned(file, c.alpha_n, i, at + "alpha_n"));
    Xielu& own = all.emplace_back();
    if (!c.beta.empty() || file.find(at + "beta") != nullptr) {
      TOK_TRY(own.straight, learned(file, c.beta, i, at + "beta"));
    }
    own.positive = float(softplus(p));
    own.negative = float(own.straight + softplus(n));
  }
  ModelBuilder builder(file, options, prefix);
  return ApertusDecoder(builder, c, std::move(all)).build();
}

}  // namespace tokamak
