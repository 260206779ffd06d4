// The fields of config.json that LFM2, Qwen3.5, Granite 4 and Falcon-H1 read.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/text.h"
#include "model/arch.h"

namespace tokamak {
namespace {

Result<Graph> graph_of(const std::string& config, std::vector<TensorInfo> tensors) {
  const Json json = *Json::parse(config);
  const Architecture& architecture = **find_architecture(ConfigReader(json, "config.json"));
  uint64_t end = 0;
  for (TensorInfo& info : tensors) {
    info.dtype = DType::kF32;
    info.offset = end;
    info.bytes = info.elements() * 4;
    end += info.bytes;
  }
  auto file = TensorFile::make({memory_source("memory", std::vector<std::byte>(end))},
                               std::move(tensors), Json(Json::Object{}));
  return architecture.build(ConfigReader(json, "config.json"), *file, {.context = 128});
}

/// The error of building a graph from a checkpoint with these tensors: it names the first that is
/// missing and the shape that the config asks for.
std::string error_of(const std::string& config, std::vector<TensorInfo> tensors) {
  const auto built = graph_of(config, std::move(tensors));
  return built ? "" : built.error().message;
}

std::string lfm2(const std::string& more, uint32_t layers = 1) {
  return fmt::format(R"({{"architectures": ["Lfm2ForCausalLM"], "vocab_size": 8, "hidden_size": 8,
      "num_hidden_layers": {}, "num_attention_heads": 2, "num_key_value_heads": 1, {}}})",
                     layers, more);
}

std::string qwen3_5(const std::string& more) {
  return fmt::format(R"({{"architectures": ["Qwen3_5ForCausalLM"], "vocab_size": 8,
      "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
      "head_dim": 8, "intermediate_size": 6, "linear_num_key_heads": 1, "linear_num_value_heads": 2,
      "linear_key_head_dim": 4, "linear_value_head_dim": 2{}{}}})",
                     more.empty() ? "" : ", ", more);
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const TensorInfo kEmbedding = {.name = "model.embed_tokens.weight", .shape = {8, 8}};

TEST(Lfm2, TheMlpIsTwoThirdsOfTheFieldRoundedUp) {
  const std::vector<TensorInfo> all_but_mlp = {
      kEmbedding,
      {.name = "model.layers.0.operator_norm.weight", .shape = {8}},
      {.name = "model.layers.0.conv.in_proj.weight", .shape = {24, 8}},
      {.name = "model.layers.0.conv.conv.weight", .shape = {8, 1, 3}},
      {.name = "model.layers.0.conv.out_proj.weight", .shape = {8, 8}},
      {.name = "model.layers.0.ffn_norm.weight", .shape = {8}}};
  const auto asks_for = [&](const std::string& fields, uint32_t size) {
    const std::string error = error_of(lfm2(R"("layer_types": ["conv"], )" + fields), all_but_mlp);
    EXPECT_TRUE(holds(error, "feed_forward.w1.weight")) << error;
    EXPECT_TRUE(holds(error, fmt::format("shape [{}, 8]", size))) << fields << ": " << error;
  };
  asks_for(R"("intermediate_size": 6656)", 4608);
  asks_for(R"("intermediate_size": 1, "block_ff_dim": 96, "block_multiple_of": 32)", 64);
  const std::string odd = R"("block_ff_dim": 100, "block_multiple_of": 7, )";
  asks_for(odd + R"("block_ffn_dim_multiplier": 1.5)", 105);
  asks_for(odd + R"("block_ffn_dim_multiplier": null)", 66);
  asks_for(odd + R"("block_auto_adjust_ff_dim": false)", 100);
}

TEST(Lfm2, LayersAreOfTheKindThatTheConfigNames) {
  const auto first = [](const std::string& fields, uint32_t layers = 1) {
    return error_of(lfm2(R"("intermediate_size": 6, )" + fields, layers),
                    {kEmbedding, {.name = "model.layers.0.operator_norm.weight", .shape = {8}}});
  };
  EXPECT_TRUE(holds(first(R"("layer_types": ["conv"])"), "conv.in_proj"));
  EXPECT_TRUE(holds(first(R"("layer_types": ["full_attention"])"), "self_attn.q_proj"));
  EXPECT_TRUE(holds(first(R"("full_attn_idxs": [0])"), "self_attn.q_proj"));
  EXPECT_TRUE(holds(first(R"("full_attn_idxs": [1])", 2), "conv.in_proj"));
  EXPECT_TRUE(holds(first(R"("conv_bias": false)"), "self_attn.q_proj"));
}

TEST(Qwen35, RefusesWhatTheReferenceDoesNotRunEither) {
  EXPECT_EQ(error_of(qwen3_5(R"("attn_output_gate": false)"), {}),
            "config.json: attn_output_gate is false; this engine runs Qwen3.5 with true.");
  EXPECT_EQ(error_of(qwen3_5(R"("attention_bias": true)"), {}),
            "config.json: attention_bias is true; this engine runs Qwen3.5 with false.");
  EXPECT_TRUE(holds(error_of(qwen3_5(R"("partial_rotary_factor": 0.1)"), {}), "turns 0 of 8"));
}

TEST(Qwen35, AWrongTieAtTheTopIsAnError) {
  std::string config = qwen3_5("");
  config.insert(config.find("\"vocab_size\""),
                "\"tie_word_embeddings\": \"no\", "
                "\"text_config\": {");
  EXPECT_EQ(error_of(config + "}", {}),
            "config.json: tie_word_embeddings is \"no\", expected true or false.");
}

/// Everything but the head; `taps` is the shape of the convolution.
std::vector<TensorInfo> qwen3_5_tensors(const std::string& prefix, std::vector<uint64_t> taps) {
  const std::string p = prefix + "layers.0.";
  return {{.name = prefix + "embed_tokens.weight", .shape = {8, 8}},
          {.name = p + "input_layernorm.weight", .shape = {8}},
          {.name = p + "linear_attn.in_proj_qkv.weight", .shape = {12, 8}},
          {.name = p + "linear_attn.in_proj_z.weight", .shape = {4, 8}},
          {.name = p + "linear_attn.in_proj_a.weight", .shape = {2, 8}},
          {.name = p + "linear_attn.in_proj_b.weight", .shape = {2, 8}},
          {.name = p + "linear_attn.A_log", .shape = {2}},
          {.name = p + "linear_attn.dt_bias", .shape = {2}},
          {.name = p + "linear_attn.conv1d.weight", .shape = std::move(taps)},
          {.name = p + "linear_attn.norm.weight", .shape = {2}},
          {.name = p + "linear_attn.out_proj.weight", .shape = {8, 4}},
          {.name = p + "post_attention_layernorm.weight", .shape = {8}},
          {.name = p + "mlp.gate_proj.weight", .shape = {6, 8}},
          {.name = p + "mlp.up_proj.weight", .shape = {6, 8}},
          {.name = p + "mlp.down_proj.weight", .shape = {8, 6}},
          {.name = prefix + "norm.weight", .shape = {8}}};
}

TEST(Qwen35, TheHeadStandsBesideTheModelOfEitherLayout) {
  for (const auto& [prefix, head] : std::vector<std::pair<std::string, std::string>>{
           {"model.", "lm_head"},
           {"model.language_model.", "lm_head"},
           {"language_model.model.", "language_model.lm_head"}}) {
    const auto all_but_head = qwen3_5_tensors(prefix, {12, 1, 4});
    EXPECT_EQ(error_of(qwen3_5(""), all_but_head),
              fmt::format("The checkpoint has no tensor \"{}.weight\"; the config asks for one of "
                          "shape [8, 8].",
                          head));
    EXPECT_EQ(error_of(qwen3_5(R"("tie_word_embeddings": true)"), all_but_head), "");
  }
}

/// MLX stores norms with their 1 added and the taps of a convolution before its channel.
TEST(Qwen35, NormsOfMlxAreNotRaisedAgain) {
  const auto ones = [](std::vector<uint64_t> taps) {
    const std::string config = qwen3_5(R"("tie_word_embeddings": true)");
    const auto graph = graph_of(config, qwen3_5_tensors("language_model.model.", std::move(taps)));
    EXPECT_TRUE(graph) << graph.error().message;
    const std::string text = graph ? to_text(*graph) : "";
    return std::ranges::count(text, '+');
  };
  EXPECT_EQ(ones({12, 1, 4}), 3);
  EXPECT_EQ(ones({12, 4, 1}), 0);
}

std::string scans(const std::string& architecture, const std::string& more) {
  return fmt::format(R"({{"architectures": ["{}"], "vocab_size": 8, "hidden_size": 8,
      "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
      "intermediate_size": 6, "mamba_n_heads": 4, "mamba_d_state": 3, {}}})",
                     architecture, more);
}

TEST(Mamba2, SizesOfTheScanAreTheConfigs) {
  const auto error = [](const std::string& architecture, const std::string& more) {
    return error_of(scans(architecture, more),
                    {kEmbedding, {.name = "model.layers.0.input_layernorm.weight", .shape = {8}}});
  };
  const auto granite = [&](const std::string& more) {
    return error("GraniteMoeHybridForCausalLM", more);
  };
  const auto falcon = [&](const std::string& more) { return error("FalconH1ForCausalLM", more); };
  // x and z of 16, B and C of 3, and 4 dt.
  EXPECT_TRUE(holds(granite(R"("mamba_d_head": "auto")"), "in_proj.weight")) << granite("\"a\": 1");
  EXPECT_TRUE(holds(granite(R"("mamba_d_head": "auto")"), "[42, 8]"));
  EXPECT_TRUE(holds(falcon(R"("mamba_d_ssm": 8, "mamba_d_head": 2)"), "[26, 8]"));
  EXPECT_TRUE(holds(granite(R"("mamba_d_head": 3)"), "mamba_d_head is 3"));
  EXPECT_TRUE(holds(granite(R"("mamba_n_groups": 3)"), "not a multiple of mamba_n_groups (3)"));
  EXPECT_TRUE(holds(granite(R"("layer_types": ["conv"])"), "entry 0 is \"conv\""));
  EXPECT_TRUE(holds(granite(R"("position_embedding_type": "alibi")"), "rope and nope"));
  EXPECT_TRUE(holds(granite(R"("time_step_limit": [2, 1])"), "time_step_limit"));
  EXPECT_TRUE(holds(granite(R"("time_step_limit": [0.0, Infinity])"), "[42, 8]"));
  EXPECT_TRUE(holds(falcon(R"("mlp_bias": true, "mamba_d_ssm": 8)"), "mlp_bias is true"));
}

}  // namespace
}  // namespace tokamak
