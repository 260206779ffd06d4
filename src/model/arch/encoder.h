// The part that encoders share: fields of their configs, attention both ways, BERT's block.
#pragma once
#include <optional>
#include <string>

#include "model/arch.h"

namespace tokamak {

/// How a cross-encoder's logit becomes a score, as its config says for sentence-transformers; by
/// default by the sigmoid function, as there. Errors: a classifier of more than one label, which
/// ranks nothing.
Result<ScoreFunction> read_score_function(const ConfigReader& config);

/// The sizes that all encoders have.
struct EncoderConfig {
  uint32_t vocab = 0, hidden = 0, layers = 0, heads = 0, ffn = 0;
  uint32_t max_context = 0;
  float eps = 0;
  Activation activation = Activation::kGeluErf;

  uint32_t head_dim() const { return hidden / heads; }
};

ModelFacts encoder_facts(const char* architecture, const EncoderConfig& c);

/// Fields as BERT's config names them. `offset`: rows of the table of positions that come before
/// that of the first token. `positions`: the only kind of those that the architecture has.
Result<EncoderConfig> read_bert_fields(ConfigReader& config, uint32_t offset,
                                       std::string_view positions = "absolute");

/// How the tensors of a block are named.
struct BlockNames {
  const char *q, *k, *v, *o, *attention_norm;
  const char* layers = "encoder.layer";
  const char *up = "intermediate.dense", *down = "output.dense", *last_norm = "output.LayerNorm";
};

/// A block of BERT: attention both ways, then two matrices with an activation between them; norms
/// are after the additions. `bias`: as of Attention.
ValueId bert_block(ModelBuilder& b, const EncoderConfig& c, uint32_t index, const BlockNames& names,
                   ValueId x, std::optional<ValueId> bias = {});

/// Attention of every token to all others of its sequence, or to those less than `window` away.
ValueId attention_both_ways(ModelBuilder& b, const EncoderConfig& c, ValueId q, ValueId k,
                            ValueId v, uint32_t window = 0, std::optional<ValueId> bias = {});

/// q, k or v, part 0, 1 or 2, whose matrices are rows of one tensor, name + ".weight".
ValueId packed_qkv(ModelBuilder& b, const EncoderConfig& c, ValueId x, const std::string& name,
                   uint32_t part, bool bias);

}  // namespace tokamak
