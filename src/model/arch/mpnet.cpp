// MPNet. Reference: transformers/models/mpnet/modeling_mpnet.py; arXiv:2004.09297.
//
// The differences from BERT:
//   positions begin after the padding token's, as RoBERTa's; there are no token types
//   the scores of all layers have a bias by head and by a bucket of the distance, as T5's have
//   (arXiv:1910.10683): half of the buckets are for keys after the query, and of each half one half
//   is for single distances, the other for distances that grow exponentially up to 128
#include <cmath>

#include "model/arch/encoder.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

constexpr uint32_t kMaxDistance = 128;

struct Config : EncoderConfig {
  uint32_t offset = 0, buckets = 0;
};

Result<Config> read(ConfigReader config) {
  Config c;
  c.offset = config.count("pad_token_id", 1) + 1;
  c.buckets = config.size("relative_attention_num_buckets", 32);
  TOK_TRY(config.status());
  if (c.buckets % 4 != 0 || c.buckets / 4 >= kMaxDistance) {
    return unsupported("{} is {}; this engine knows multiples of 4 below {}.",
                       config.path("relative_attention_num_buckets"), c.buckets, 4 * kMaxDistance);
  }
  TOK_TRY(static_cast<EncoderConfig&>(c), read_bert_fields(config, c.offset));
  return c;
}

/// The bucket, within its half, of keys that far away.
uint32_t bucket_of(uint32_t distance, uint32_t half) {
  const uint32_t exact = half / 2;
  if (distance < exact) return distance;
  const float share =
      std::log(float(distance) / float(exact)) / std::log(float(kMaxDistance) / float(exact));
  return std::min(exact + uint32_t(share * float(half - exact)), half - 1);
}

/// The buckets of distances from -radius to radius, beyond which all are of the last one.
std::vector<uint32_t> buckets_by_distance(uint32_t buckets) {
  const uint32_t half = buckets / 2;
  uint32_t radius = 1;
  while (bucket_of(radius, half) < half - 1) ++radius;
  std::vector<uint32_t> list;
  for (uint32_t d = radius; d > 0; --d) list.push_back(bucket_of(d, half));
  for (uint32_t d = 0; d <= radius; ++d) list.push_back((d > 0 ? half : 0) + bucket_of(d, half));
  return list;
}

}  // namespace

Result<ModelFacts> mpnet_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return encoder_facts("MPNetModel", c);
}

Result<Graph> build_mpnet(const ConfigReader& config, const TensorFile& file,
                          const BuildOptions& options) {
  constexpr BlockNames kNames = {"attention.attn.q", "attention.attn.k", "attention.attn.v",
                                 "attention.attn.o", "attention.LayerNorm"};
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"", "mpnet."}, "embeddings.word_embeddings.weight"));
  ModelBuilder b(file, options, prefix);
  ValueId words = b.matrix("embeddings.word_embeddings.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), words);
  x = b.with_positions(x, "embeddings.position_embeddings.weight", c.max_context + c.offset,
                       c.offset);
  x = b.normed(x, "embeddings.LayerNorm", c.eps);
  const ValueId bias = b.listed_rows("distances", "encoder.relative_attention_bias.weight",
                                     c.buckets, c.heads, buckets_by_distance(c.buckets));
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = bert_block(b, c, i, kNames, x, bias);
  return b.finish_embedding(b.output_rows(x));
}

}  // namespace tokamak
