// What each architecture of Llama's shape makes of its own fields of config.json, and what it
// refuses.
#include "model/dense_decoder.h"

#include <gtest/gtest.h>

#include "graph/text.h"

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
