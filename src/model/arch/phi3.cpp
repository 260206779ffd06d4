// Phi-3, Phi-3.5 and Phi-4-mini. Reference: transformers/models/phi3/modeling_phi3.py and
// configuration_phi3.py; arXiv:2404.14219.
//
// The differences from Llama:
//   q, k and v are rows of one tensor, gate and up of another
//   optionally a sliding window in every layer, and only the first part of each head is turned
//   LongRoPE, "su" or "yarn" in older files. The reference chooses the frequencies by the length of
//   the sequence and drops its cache when generation passes the original length; the scheduler does
//   too.
#include "model/families.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

Result<RopeTable> read_phi3_rope(ConfigReader config, DecoderSpec& c) {
  const double theta = read_rope_field(config, "rope_theta", 10000.0);
  double part = read_rope_field(config, "partial_rotary_factor", 1.0);
  ConfigReader fields = rope_fields(config);
  part = fields.positive("partial_rotary_factor", part);
  const uint32_t original = config.size("original_max_position_embeddings",
                                        fields.size("original_max_position_embeddings", 4096));
  const std::string type = fields.word("rope_type", fields.word("type", "default"));
  TOK_TRY(config.status());
  TOK_TRY(fields.status());
  TOK_TRY(const uint32_t rotary, rotary_size(config, part, c.head_dim));
  RopeTable table;
  if (type == "longrope" || type == "su" || type == "yarn") {
    if (original < 2) {
      return invalid_input("{} is {}, expected at least 2.",
                           config.path("original_max_position_embeddings"), original);
    }
    table = read_longrope(fields, theta, rotary, original, c.max_context);
  } else if (type == "default") {
    table = read_rope(fields, theta, rotary, c.max_context);
  } else {
    return unsupported("{} is \"{}\"; this architecture has default, longrope and su.",
                       fields.path("rope_type"), type);
  }
  TOK_TRY(fields.status());
  return table;
}

}  // namespace

Result<DecoderSpec> read_phi3(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "Phi3ForCausalLM", {.max_context = 4096, .eps = 1e-5}));
  c.joined_qkv = c.joined_gate_up = true;
  if (config.has("sliding_window")) c.windows.assign(c.layers, config.size("sliding_window"));
  TOK_TRY(config.status());
  TOK_TRY(RopeTable rope, read_phi3_rope(config, c));
  c.ropes = {std::move(rope)};
  return c;
}

}  // namespace tokamak
