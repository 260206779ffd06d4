// The fields of config.json that each architecture of Llama's shape reads or
// refuses.
#include "model/decoder.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "model/families.h"

namespace tokamak {
namespace {

/// config.json of a tiny model with more fields, for one architecture.
struct Tiny {
  Json json;
  const Architecture* architecture = nullptr;

  Tiny(const char* name, const std::string& more)
      : json(*Json::parse(fmt::format(
            R"({{"architectures": ["{}"], "vocab_size": 8, "hidden_size": 8, "intermediate_size": 6,
                 "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1{}{}}})",
            name, more.empty() ? "" : ", ", more))),
        architecture(*find_architecture(ConfigReader(json, "config.json"))) {}

  std::string error() const {
    auto facts = architecture->facts(ConfigReader(json, "config.json"));
    return facts ? "" : facts.error().message;
  }
  /// The graph's text on a checkpoint that has all `names`, as vectors of 8 or matrices.
  std::string graph(std::vector<TensorInfo> infos) const {
    uint64_t end = 0;
    for (TensorInfo& info : infos) {
      uint64_t count = 4;
      for (const uint64_t dim : info.shape) count *= dim;
      info.dtype = DType::kF32;
      info.offset = end;
      info.bytes = count;
      end += count;
    }
    auto file = TensorFile::make({memory_source("memory", std::vector<std::byte>(end))}, infos,
                                 Json(Json::Object{}));
    auto built = architecture->build(ConfigReader(json, "config.json"), *file, {.context = 128});
    return built ? to_text(*built) : built.error().message;
  }
};

/// Names without "model.", with shapes; two layers of it.
std::vector<TensorInfo> checkpoint(std::vector<TensorInfo> per_layer) {
  std::vector<TensorInfo> all = {{.name = "model.embed_tokens.weight", .shape = {8, 8}},
                                 {.name = "model.norm.weight", .shape = {8}},
                                 {.name = "lm_head.weight", .shape = {8, 8}}};
  for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) {
    per_layer.push_back({.name = fmt::format("{}.weight", norm), .shape = {8}});
  }
  per_layer.push_back({.name = "self_attn.o_proj.weight", .shape = {8, 8}});
  per_layer.push_back({.name = "mlp.down_proj.weight", .shape = {8, 6}});
  for (int layer = 0; layer < 2; ++layer) {
    for (TensorInfo info : per_layer) {
      info.name = fmt::format("model.layers.{}.{}", layer, info.name);
      all.push_back(std::move(info));
    }
  }
  return all;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::vector<TensorInfo> separate() {
  return {{.name = "self_attn.q_proj.weight", .shape = {8, 8}},
          {.name = "self_attn.k_proj.weight", .shape = {4, 8}},
          {.name = "self_attn.v_proj.weight", .shape = {4, 8}},
          {.name = "mlp.gate_proj.weight", .shape = {6, 8}},
          {.name = "mlp.up_proj.weight", .shape = {6, 8}}};
}

TEST(Llama, RefusesInterleavedRotation) {
  EXPECT_EQ(Tiny("LlamaForCausalLM", R"("rope_interleaved": false)").error(), "");
  EXPECT_EQ(Tiny("LlamaForCausalLM", R"("rope_interleaved": true)").error(),
            "config.json: rope_interleaved is true; this engine turns halves, not neighbours.");
  EXPECT_EQ(Tiny("LlamaForCausalLM", R"("partial_rotary_factor": 0.5)").error(),
            "config.json: partial_rotary_factor is 0.5; this engine turns whole heads of this "
            "architecture.");
}

TEST(Llama, RopeScalingTakesTheRoomOfRopeParameters) {
  const auto tensors = checkpoint(separate());
  const auto graph = [&](const char* fields) {
    return Tiny("LlamaForCausalLM", fields).graph(tensors);
  };
  const std::string both = graph(R"("rope_parameters": {"rope_type": "default", "rope_theta": 100},
                                    "rope_scaling": {"rope_type": "linear", "factor": 2})");
  EXPECT_TRUE(holds(both, "[0.5 0.05]")) << both;
  const std::string top =
      graph(R"("rope_theta": 16, "rope_parameters": {"rope_type": "default", "rope_theta": 100},
               "rope_scaling": {"type": "linear", "factor": 2})");
  EXPECT_TRUE(holds(top, "[0.5 0.125]")) << top;
  const std::string own = graph(R"("rope_theta": 16, "rope_parameters": {"rope_theta": 100},
               "rope_scaling": {"type": "linear", "factor": 2, "rope_theta": 4})");
  EXPECT_TRUE(holds(own, "[0.5 0.25]")) << own;
  for (const char* none : {"{}", "null"}) {
    const std::string newer = graph(fmt::format(R"("rope_parameters": {{"rope_type": "linear",
        "factor": 4, "rope_theta": 100}}, "rope_scaling": {})",
                                                none)
                                        .c_str());
    EXPECT_TRUE(holds(newer, "[0.25 0.025]")) << newer;
  }
  for (const char* given : {R"("rope_parameters": "none")", R"("rope_parameters": [1],
                            "rope_scaling": {"rope_type": "linear", "factor": 2})"}) {
    const std::string error = Tiny("LlamaForCausalLM", given).error();
    EXPECT_TRUE(error.starts_with("config.json: rope_parameters: found ")) << error;
  }
}

TEST(Mistral, NullIsNoWindowAndSilenceIsTheDefault) {
  const auto tensors = checkpoint(separate());
  const std::string some = Tiny("MistralForCausalLM", R"("sliding_window": 32)").graph(tensors);
  EXPECT_TRUE(holds(some, "window=32")) << some;
  const std::string none = Tiny("MistralForCausalLM", R"("sliding_window": null)").graph(tensors);
  EXPECT_TRUE(holds(none, "window=0")) << none;
  const std::string silent = Tiny("MistralForCausalLM", "").graph(tensors);
  EXPECT_TRUE(holds(silent, "window=4096")) << silent;
}

TEST(Mistral, RefusesAWindowOfZeroAndLayerTypes) {
  EXPECT_EQ(Tiny("MistralForCausalLM", R"("sliding_window": 0)").error(),
            "config.json: sliding_window is 0, expected an integer between 1 and 2147483647.");
  EXPECT_EQ(Tiny("MistralForCausalLM", R"("layer_types": ["full_attention"])").error(),
            "config.json: layer_types is given; all layers of this architecture are of one type.");
}

TEST(Qwen2, AsksForBiasesOfQKAndVAlone) {
  auto tensors = separate();
  const std::string without = Tiny("Qwen2ForCausalLM", "").graph(checkpoint(tensors));
  EXPECT_TRUE(holds(without, "no tensor \"model.layers.0.self_attn.q_proj.bias\"")) << without;
  tensors.push_back({.name = "self_attn.q_proj.bias", .shape = {8}});
  tensors.push_back({.name = "self_attn.k_proj.bias", .shape = {4}});
  tensors.push_back({.name = "self_attn.v_proj.bias", .shape = {4}});
  const std::string with = Tiny("Qwen2ForCausalLM", "").graph(checkpoint(tensors));
  EXPECT_TRUE(holds(with, "self_attn.v_proj.bias\"")) << with;
}

TEST(Qwen3, HeadsAreOf128WhateverTheHiddenSize) {
  const std::string text = Tiny("Qwen3ForCausalLM", "").graph(checkpoint(separate()));
  EXPECT_TRUE(holds(text, "q_proj.weight\" is f32[8, 8], expected [256, 8]")) << text;
}

/// A layer that could be dense or sparse, its experts in any of the spellings.
std::vector<TensorInfo> with_experts(std::vector<TensorInfo> experts) {
  std::vector<TensorInfo> all = separate();
  for (const char* norm : {"q_norm", "k_norm"}) {
    all.push_back({.name = fmt::format("self_attn.{}.weight", norm), .shape = {4}});
  }
  all.push_back({.name = "mlp.gate.weight", .shape = {2, 8}});
  all.insert(all.end(), experts.begin(), experts.end());
  return checkpoint(std::move(all));
}

constexpr const char* kTwoExperts =
    R"("num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 3)";

TEST(Qwen3Moe, TakesATensorForEachExpertOrOneForAll) {
  std::vector<TensorInfo> each;
  for (int e = 0; e < 2; ++e) {
    const std::string p = fmt::format("mlp.experts.{}.", e);
    each.push_back({.name = p + "gate_proj.weight", .shape = {3, 8}});
    each.push_back({.name = p + "up_proj.weight", .shape = {3, 8}});
    each.push_back({.name = p + "down_proj.weight", .shape = {8, 3}});
  }
  const Tiny tiny("Qwen3MoeForCausalLM", kTwoExperts);
  const std::string own = tiny.graph(with_experts(each));
  EXPECT_TRUE(holds(own,
                    "experts.0.up_proj.weight\"[0:3] "
                    "\"model.layers.0.mlp.experts.1.up_proj.weight\"[0:3]"))
      << own;
  const std::string one =
      tiny.graph(with_experts({{.name = "mlp.experts.gate_up_proj", .shape = {2, 6, 8}},
                               {.name = "mlp.experts.down_proj", .shape = {2, 8, 3}}}));
  EXPECT_TRUE(holds(one, "gate_up_proj\"[3:6] \"model.layers.0.mlp.experts.gate_up_proj\"[9:12]"))
      << one;
  for (const std::string& text : {own, one}) {
    EXPECT_TRUE(holds(text, "expert_linear")) << text;
    EXPECT_TRUE(holds(text, "{top_k=1, normalize=false, factor=1,")) << text;
  }
}

TEST(Qwen3Moe, TakesExpertsThatLieAsInAndOut) {
  const auto graph = [](uint32_t ffn, std::vector<uint64_t> gate_up, std::vector<uint64_t> down) {
    const std::string sizes = fmt::format(
        R"("num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": {})", ffn);
    return Tiny("Qwen3MoeForCausalLM", sizes)
        .graph(with_experts({{.name = "mlp.experts.gate_up_proj", .shape = std::move(gate_up)},
                             {.name = "mlp.experts.down_proj", .shape = std::move(down)}}));
  };
  const std::string own = graph(3, {2, 6, 8}, {2, 8, 3});
  EXPECT_TRUE(holds(own, "expert_linear")) << own;
  EXPECT_FALSE(holds(own, "~transposed")) << own;
  const std::string turned = graph(3, {2, 8, 6}, {2, 3, 8});
  EXPECT_TRUE(holds(turned, "gate_up_proj\"[0:3] ~transposed")) << turned;
  EXPECT_TRUE(holds(turned, "down_proj\" ~transposed")) << turned;
  EXPECT_TRUE(holds(graph(3, {2, 6, 9}, {2, 3, 8}), "gate_up_proj\" is f32[2, 6, 9], expected "));
  // A square matrix lies as the other one does.
  EXPECT_FALSE(holds(graph(4, {2, 8, 8}, {2, 8, 4}), "~transposed"));
  EXPECT_TRUE(holds(graph(4, {2, 8, 8}, {2, 4, 8}), "gate_up_proj\"[0:4] ~transposed"));
  EXPECT_TRUE(holds(graph(8, {2, 8, 16}, {2, 8, 8}), "down_proj\" ~transposed"));
}

TEST(Qwen3Moe, SomeLayersAreDense) {
  const auto tensors = with_experts({{.name = "mlp.experts.gate_up_proj", .shape = {2, 6, 8}},
                                     {.name = "mlp.experts.down_proj", .shape = {2, 8, 3}}});
  const auto graph = [&](const char* field) {
    return Tiny("Qwen3MoeForCausalLM", fmt::format("{}, {}", kTwoExperts, field)).graph(tensors);
  };
  const std::string step = graph(R"("decoder_sparse_step": 2)");
  EXPECT_FALSE(holds(step, "layers.0.mlp.gate.weight")) << step;
  EXPECT_TRUE(holds(step, "layers.1.mlp.gate.weight")) << step;
  const std::string listed = graph(R"("mlp_only_layers": [1])");
  EXPECT_TRUE(holds(listed, "layers.0.mlp.gate.weight")) << listed;
  EXPECT_FALSE(holds(listed, "layers.1.mlp.gate.weight")) << listed;
}

TEST(Qwen3Moe, ASlidingWindowIsInEveryLayer) {
  const auto tensors = with_experts({{.name = "mlp.experts.gate_up_proj", .shape = {2, 6, 8}},
                                     {.name = "mlp.experts.down_proj", .shape = {2, 8, 3}}});
  const auto graph = [&](const char* field) {
    return Tiny("Qwen3MoeForCausalLM", fmt::format("{}, {}", kTwoExperts, field)).graph(tensors);
  };
  EXPECT_FALSE(holds(graph(R"("sliding_window": 32)"), "window=32"));
  const std::string text = graph(R"("sliding_window": 32, "use_sliding_window": true)");
  EXPECT_TRUE(holds(text, "window=32")) << text;
  EXPECT_FALSE(holds(text, "window=0")) << text;
}

TEST(Phi3, TakesRowsOfTheFusedTensors) {
  const auto tensors = checkpoint({{.name = "self_attn.qkv_proj.weight", .shape = {16, 8}},
                                   {.name = "mlp.gate_up_proj.weight", .shape = {12, 8}}});
  const std::string text = Tiny("Phi3ForCausalLM", "").graph(tensors);
  for (const char* range :
       {"qkv_proj.weight\"[0:8]", "qkv_proj.weight\"[8:12]", "qkv_proj.weight\"[12:16]",
        "gate_up_proj.weight\"[0:6]", "gate_up_proj.weight\"[6:12]"}) {
    EXPECT_TRUE(holds(text, range)) << range << text;
  }
}

TEST(Phi3, ReadsLongRopeInAllItsSpellings) {
  const auto tensors = checkpoint({{.name = "self_attn.qkv_proj.weight", .shape = {16, 8}},
                                   {.name = "mlp.gate_up_proj.weight", .shape = {12, 8}}});
  const auto graph = [&](const char* type, uint32_t original) {
    return Tiny("Phi3ForCausalLM", fmt::format(R"("original_max_position_embeddings": {},
                              "rope_scaling": {{"{}", "short_factor": [1, 1], "long_factor": [2, 2]}})",
                                               original, type))
        .graph(tensors);
  };
  const std::string text = graph(R"(rope_type": "longrope)", 64);
  EXPECT_TRUE(holds(text, "rope: f32[192,4] = rope {factor=")) << text;
  EXPECT_TRUE(holds(text, "[0.5 0.005] short 64 [1 0.01]")) << text;
  EXPECT_TRUE(holds(text, "{head_dim=4, short_rows=64}")) << text;
  EXPECT_EQ(graph(R"(type": "su)", 64), text);
  EXPECT_EQ(graph(R"(type": "yarn)", 64), text);
  // A context that no sequence outgrows needs the short part alone.
  const std::string never_long = graph(R"(type": "su)", 128);
  EXPECT_TRUE(holds(never_long, "rope: f32[128,4] = rope {factor=")) << never_long;
  EXPECT_TRUE(holds(never_long, "[1 0.01]\n")) << never_long;
}

TEST(GptOss, HasItsReferencesScalingWhereTheConfigHasNone) {
  const auto rope = [](const char* more) {
    const Tiny model("GptOssForCausalLM", more);
    auto spec = read_gpt_oss(ConfigReader(model.json, "config.json"));
    return spec ? spec->ropes[0] : RopeTable{};
  };
  const RopeTable given = rope(R"("rope_theta": 1e4, "rope_scaling": {"rope_type": "yarn",
      "factor": 32, "original_max_position_embeddings": 4096, "truncate": false})");
  ASSERT_EQ(given.inverse_frequencies.size(), 32u);
  EXPECT_NE(given.factor, 1);
  const RopeTable none = rope(R"("rope_theta": 1e4)");
  EXPECT_EQ(none.inverse_frequencies, given.inverse_frequencies);
  EXPECT_EQ(none.factor, given.factor);
  EXPECT_EQ(rope(R"("rope_theta": 1e4, "rope_scaling": null)").inverse_frequencies,
            given.inverse_frequencies);
}

TEST(Dense, YarnReachesTheTableAndTheContext) {
  const Tiny llama(
      "LlamaForCausalLM",
      R"("max_position_embeddings": 64, "rope_scaling": {"type": "yarn", "factor": 4})");
  auto facts = llama.architecture->facts(ConfigReader(llama.json, "config.json"));
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->max_context, 256u);
  const std::string text =
      llama.graph(checkpoint({{.name = "self_attn.q_proj.weight", .shape = {8, 8}},
                              {.name = "self_attn.k_proj.weight", .shape = {4, 8}},
                              {.name = "self_attn.v_proj.weight", .shape = {4, 8}},
                              {.name = "mlp.gate_proj.weight", .shape = {6, 8}},
                              {.name = "mlp.up_proj.weight", .shape = {6, 8}}}));
  EXPECT_TRUE(holds(text, "rope {factor=1.1386")) << text;
}

TEST(Phi3, RefusesWhatItsRotationCannotBe) {
  EXPECT_EQ(Tiny("Phi3ForCausalLM", R"("rope_scaling": {"type": "linear", "factor": 2})").error(),
            "config.json: rope_scaling: rope_type is \"linear\"; this architecture has default, "
            "longrope and su.");
  EXPECT_EQ(Tiny("Phi3ForCausalLM", R"("partial_rotary_factor": 0.75)").error(),
            "config.json: partial_rotary_factor is 0.75, which turns 3 of 4 elements; expected an "
            "even number of them.");
  EXPECT_EQ(
      Tiny("Phi3ForCausalLM", R"("partial_rotary_factor": 2.0)").error(),
      "config.json: partial_rotary_factor is 2, which turns 0 of 4 elements; expected an even "
      "number of them.");
  EXPECT_EQ(Tiny("Phi3ForCausalLM", R"("original_max_position_embeddings": 1, "rope_scaling":
                     {"type": "su", "short_factor": [1, 1], "long_factor": [2, 2]})")
                .error(),
            "config.json: original_max_position_embeddings is 1, expected at least 2.");
}

}  // namespace
}  // namespace tokamak
