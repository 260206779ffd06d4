// The fields of config.json that decide which experts a token takes, and which layers have them.
#include <gtest/gtest.h>

#include "model/arch/deepseek.h"
#include "model/arch/lfm2.h"
#include "model/arch/mamba2.h"
#include "model/families.h"

namespace tokamak {
namespace {

/// A config of two layers with these fields, too.
ConfigReader config(const std::string& more) {
  static std::vector<std::unique_ptr<Json>> kept;
  const std::string text = R"({"vocab_size": 8, "hidden_size": 8, "intermediate_size": 6,
      "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
      "max_position_embeddings": 64, "num_experts_per_tok": 2, "moe_intermediate_size": 4)";
  kept.push_back(std::make_unique<Json>(*Json::parse(text + ", " + more + "}")));
  return {*kept.back(), "config.json"};
}

ConfigReader latents(const std::string& more) {
  return config(R"("kv_lora_rank": 4, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2,
      "v_head_dim": 4, "n_routed_experts": 8, )" +
                more);
}

TEST(Deepseek, RoutesAreThoseOfTheMethod) {
  const auto second = read_deepseek_v2(latents(R"("routed_scaling_factor": 1.5)"));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->mixture->route, (Route{.normalize = false, .scaled = 1.5f}));

  const auto grouped = read_deepseek_v2(
      latents(R"("topk_method": "group_limited_greedy", "n_group": 4, "topk_group": 2)"));
  ASSERT_TRUE(grouped) << grouped.error().message;
  EXPECT_EQ(grouped->mixture->route, (Route{.normalize = false, .groups = 4, .groups_used = 2}));

  const auto third = read_deepseek_v3(latents(R"("n_group": 2, "topk_group": 1)"));
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->mixture->route, (Route{.score = Score::kSigmoid,
                                          .biased = true,
                                          .groups = 2,
                                          .groups_used = 1,
                                          .group_by = GroupBy::kTwo,
                                          .eps = 1e-20f}));
  EXPECT_EQ(third->mixture->sparse, (std::vector<bool>{true, true}));
}

TEST(Deepseek, AllGroupsInUseAreNone) {
  const auto spec = read_deepseek_v3(latents(R"("n_group": 2, "topk_group": 2)"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->mixture->route.groups, 0u);
}

TEST(Deepseek, GroupsThatDoNotFitAreErrors) {
  const auto error = [](const std::string& more) {
    const auto spec = read_deepseek_v3(latents(more));
    return spec ? "" : spec.error().message;
  };
  EXPECT_EQ(error(R"("n_group": 3, "topk_group": 1)"),
            "config.json: n_group is 3, expected groups alike of at least 2 of the 8 experts.");
  EXPECT_EQ(error(R"("n_group": 8, "topk_group": 1)"),
            "config.json: n_group is 8, expected groups alike of at least 2 of the 8 experts.");
  EXPECT_EQ(error(R"("n_group": 2, "topk_group": 3)"),
            "config.json: topk_group is 3, expected at most n_group (2).");
  EXPECT_EQ(
      error(R"("scoring_func": "softplus")"),
      "config.json: scoring_func is \"softplus\" and topk_method is \"noaux_tc\"; this engine "
      "knows softmax with greedy or group_limited_greedy, and sigmoid with noaux_tc.");
}

TEST(Ernie, ExpertsStandBetweenTwoLayers) {
  const auto sparse = [](const std::string& more) {
    const auto spec = read_ernie4_5_moe(config(R"("moe_num_experts": 4, "moe_k": 2, )" + more));
    return spec ? spec->mixture->sparse : std::vector<bool>{};
  };
  EXPECT_EQ(sparse(R"("moe_layer_start_index": 1)"), (std::vector<bool>{false, true}));
  EXPECT_EQ(sparse(R"("moe_layer_start_index": 0, "moe_layer_end_index": 0)"),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(sparse(R"("moe_layer_start_index": 0, "moe_layer_end_index": -1)"),
            (std::vector<bool>{true, true}));
  EXPECT_EQ(sparse(R"("moe_layer_start_index": 0, "moe_layer_interval": 2)"),
            (std::vector<bool>{false, true}));
}

TEST(NemotronH, LayersAreOfTheKindOfTheirLetter) {
  const std::string scan = R"("head_dim": 4, "mamba_num_heads": 2, "mamba_head_dim": 4,
      "ssm_state_size": 4, "n_groups": 1, "n_routed_experts": 4, )";
  const auto spec = read_nemotron_h(config(scan + R"("hybrid_override_pattern": "M*")"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->mixers, (std::vector<Mixer>{Mixer::kScan, Mixer::kAttention}));
  EXPECT_FALSE(spec->mixture);
  const auto mlps = read_nemotron_h(config(scan + R"("layers_block_type": ["mlp", "moe"])"));
  ASSERT_TRUE(mlps) << mlps.error().message;
  EXPECT_EQ(mlps->mixers, (std::vector<Mixer>{Mixer::kMlp, Mixer::kMlp}));
  EXPECT_EQ(mlps->mixture->sparse, (std::vector<bool>{false, true}));

  const auto error = [&](const std::string& more) {
    const auto read = read_nemotron_h(config(scan + more));
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(error(R"("hybrid_override_pattern": "M")"),
            "config.json: hybrid_override_pattern has 1 layers, expected 2 (num_hidden_layers).");
  EXPECT_EQ(error(R"("hybrid_override_pattern": "MX")"),
            "config.json: hybrid_override_pattern: layer 1 is \"X\"; expected M, *, - or E (mamba, "
            "attention, mlp or moe).");
  EXPECT_EQ(error(R"("hybrid_override_pattern": "ME", "moe_latent_size": 4)"),
            "config.json: moe_latent_size is set; this engine runs experts of the whole width.");
}

TEST(Ministral3, QueriesAreScaledWhereTheConfigHasAFactor) {
  const auto spec = read_ministral3(config(R"("rope_parameters": {"rope_type": "yarn",
      "factor": 16, "original_max_position_embeddings": 48, "llama_4_scaling_beta": 0.25})"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->query_scale, (PositionScale{.beta = 0.25f, .period = 48}));
  const auto plain = read_ministral3(config(R"("rope_theta": 10000.0)"));
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->query_scale.beta, 0.0f);
}

TEST(Lfm2Moe, TheMlpIsAsTheConfigHasIt) {
  const auto spec = read_lfm2_moe(config(R"("num_experts": 4, "num_dense_layers": 1)"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->ffn, 6u);
  EXPECT_EQ(spec->mixture->sparse, (std::vector<bool>{false, true}));
  EXPECT_EQ(spec->mixture->route.eps, 1e-6f);
}

}  // namespace
}  // namespace tokamak
