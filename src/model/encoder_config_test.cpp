// The fields that DistilBERT, JinaBERT and GTE's encoder read.
#include <gtest/gtest.h>

#include "model/arch.h"

namespace tokamak {
namespace {

std::string error_of(Result<ModelFacts> (*facts)(const ConfigReader&), std::string_view fields,
                     std::string_view more) {
  const Json json = *Json::parse(fmt::format("{{{}{}}}", fields, more));
  const auto read = facts({json, "config.json"});
  return read ? std::string() : read.error().message;
}

constexpr std::string_view kFields =
    R"("vocab_size": 8, "hidden_size": 32, "num_hidden_layers": 1,
       "num_attention_heads": 2, "intermediate_size": 6)";

std::string gte_error(std::string_view more) {
  return error_of(gte_facts, kFields, more);
}

TEST(GteConfig, RefusesWhatTheGraphDoesNotHave) {
  EXPECT_EQ(gte_error(""), "");
  EXPECT_EQ(gte_error(R"(, "rope_scaling": {"type": "ntk", "factor": 8})"), "");
  EXPECT_EQ(gte_error(R"(, "rope_scaling": {"type": "linear", "factor": 8})"),
            "config.json: rope_scaling: type is \"linear\"; this architecture has ntk.");
  EXPECT_EQ(gte_error(R"(, "rope_scaling": {"type": "ntk", "factor": 8, "mixed_b": 0.5})"),
            "config.json: rope_scaling: mixed_b is not null; this engine knows null.");
  EXPECT_EQ(gte_error(R"(, "layer_norm_type": "rms_norm")"),
            "config.json: this engine runs this architecture with position_embedding_type rope, "
            "layer_norm_type layer_norm and pack_qkv.");
  EXPECT_EQ(gte_error(R"(, "logn_attention_scale": true)"),
            "config.json: logn_attention_scale is true; this engine runs this architecture without "
            "scales of queries.");
}

std::string jina_error(std::string_view more) {
  return error_of(jina_bert_facts, kFields, more);
}

TEST(JinaBertConfig, RefusesWhatTheGraphDoesNotHave) {
  constexpr const char* kAlibi = R"(, "position_embedding_type": "alibi")";
  const auto error = [&](const char* more) { return jina_error(std::string(kAlibi) + more); };
  EXPECT_EQ(error(""), "");
  EXPECT_EQ(error(R"(, "feed_forward_type": "reglu", "emb_pooler": null)"), "");
  EXPECT_EQ(
      jina_error(""),
      "config.json: position_embedding_type is \"absolute\"; this engine knows alibi positions "
      "here.");
  EXPECT_EQ(error(R"(, "feed_forward_type": "original")"),
            "config.json: feed_forward_type is \"original\"; this engine knows geglu and reglu.");
  EXPECT_EQ(error(R"(, "emb_pooler": "cls")"),
            "config.json: emb_pooler is \"cls\"; this engine knows mean.");
}

TEST(DistilBertConfig, NeedsHeadsThatMakeTheWidth) {
  EXPECT_EQ(
      error_of(distilbert_facts,
               R"("vocab_size": 8, "dim": 30, "n_layers": 1, "n_heads": 4, "hidden_dim": 6)", ""),
      "config.json: dim is 30, expected a multiple of n_heads, 4.");
}

}  // namespace
}  // namespace tokamak
