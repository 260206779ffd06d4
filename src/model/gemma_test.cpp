// The fields of config.json that Gemma 3 and 4 read.
#include <gtest/gtest.h>

#include "graph/text.h"
#include "model/arch.h"
#include "model/arch/gemma4_config.h"

namespace tokamak {
namespace {

Json parsed(const std::string& text) {
  auto json = Json::parse(text);
  return json ? *json : Json();
}

/// A model of one full layer, with more fields beside those of the text.
std::string fields(const std::string& more) {
  return fmt::format(R"("vocab_size": 8, "hidden_size": 8, "intermediate_size": 6,
      "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4,
      "layer_types": ["full_attention"]{}{})",
                     more.empty() ? "" : ", ", more);
}

/// The same, with fields in both places of a multimodal config.
std::string multimodal(const std::string& top, const std::string& text) {
  return fmt::format(R"({}"text_config": {{{}}})", top.empty() ? "" : top + ", ", fields(text));
}

/// The graph's text, or the error of building it, on a checkpoint without a head.
std::string gemma3(const std::string& config) {
  const Json json =
      parsed(fmt::format(R"({{"architectures": ["Gemma3ForCausalLM"], {}}})", config));
  std::vector<TensorInfo> infos = {{.name = "embed_tokens.weight", .shape = {8, 8}},
                                   {.name = "norm.weight", .shape = {8}}};
  const auto layer = [&](const char* name, std::vector<uint64_t> shape) {
    infos.push_back({.name = fmt::format("layers.0.{}.weight", name), .shape = std::move(shape)});
  };
  for (const char* norm : {"input_layernorm", "post_attention_layernorm",
                           "pre_feedforward_layernorm", "post_feedforward_layernorm"}) {
    layer(norm, {8});
  }
  for (const char* norm : {"self_attn.q_norm", "self_attn.k_norm"}) layer(norm, {4});
  layer("self_attn.q_proj", {8, 8});
  layer("self_attn.k_proj", {4, 8});
  layer("self_attn.v_proj", {4, 8});
  layer("self_attn.o_proj", {8, 8});
  layer("mlp.gate_proj", {6, 8});
  layer("mlp.up_proj", {6, 8});
  layer("mlp.down_proj", {8, 6});
  uint64_t end = 0;
  for (TensorInfo& info : infos) {
    info.dtype = DType::kF32;
    info.offset = end;
    info.bytes = info.elements() * 4;
    end += info.bytes;
  }
  const auto file = TensorFile::make({memory_source("memory", std::vector<std::byte>(end))},
                                     std::move(infos), Json(Json::Object{}));
  const ConfigReader reader(json, "config.json");
  auto built = (*find_architecture(reader))->build(reader, *file, {.context = 128});
  return built ? to_text(*built) : built.error().message;
}

Result<Gemma4Config> gemma4(const std::string& config) {
  const Json json = parsed(fmt::format("{{{}}}", config));
  return read_gemma4(ConfigReader(json, "config.json"));
}
std::string gemma4_error(const std::string& config) {
  const auto read = gemma4(config);
  return read ? "" : read.error().message;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kNoHead = "no tensor \"lm_head.weight\"";

TEST(Gemma, TheTopOfAMultimodalConfigSaysWhetherTheHeadIsTied) {
  const std::string yes = R"("tie_word_embeddings": true)", no = R"("tie_word_embeddings": false)";
  EXPECT_TRUE(holds(gemma3(multimodal(no, yes)), kNoHead)) << gemma3(multimodal(no, yes));
  EXPECT_FALSE(holds(gemma3(multimodal(yes, no)), kNoHead));
  EXPECT_TRUE(holds(gemma3(multimodal("", no)), kNoHead));
  EXPECT_FALSE(holds(gemma3(multimodal("", "")), kNoHead));
  EXPECT_TRUE(holds(gemma3(fields(no)), kNoHead));
  EXPECT_FALSE(gemma4(multimodal(no, yes))->tied);
  EXPECT_TRUE(gemma4(multimodal(yes, no))->tied);
  EXPECT_TRUE(gemma4(multimodal("", ""))->tied);
}

TEST(Gemma, AWrongTieAtTheTopIsAnError) {
  const std::string wrong = R"("tie_word_embeddings": "no")";
  const std::string expected =
      "config.json: tie_word_embeddings is \"no\", expected true or false.";
  EXPECT_EQ(gemma3(multimodal(wrong, "")), expected);
  EXPECT_EQ(gemma4_error(multimodal(wrong, "")), expected);
}

TEST(Gemma, RotaryParametersOfTheWrongKindAreErrors) {
  for (const auto& [value, kind] : {std::pair{R"("none")", "a string"}, {"[1]", "an array"}}) {
    for (const char* field : {"rope_parameters", "rope_scaling"}) {
      const std::string config = fields(fmt::format(R"("{}": {})", field, value));
      const std::string expected =
          fmt::format("config.json: {}: found {}, expected an object.", field, kind);
      EXPECT_EQ(gemma3(config), expected);
      // Gemma 4 never had rope_scaling.
      if (std::string_view(field) == "rope_scaling") continue;
      EXPECT_EQ(gemma4_error(config), expected);
    }
    for (const char* type : {"full_attention", "sliding_attention"}) {
      const std::string config =
          fields(fmt::format(R"("rope_parameters": {{"{}": {}}})", type, value));
      const std::string expected = fmt::format(
          "config.json: rope_parameters: {}: found {}, expected an object.", type, kind);
      EXPECT_EQ(gemma3(config), expected);
      EXPECT_EQ(gemma4_error(config), expected);
    }
  }
}

TEST(Gemma3, RopeScalingOverwritesTheParametersOfFullLayers) {
  const auto graph = [](const char* more) { return gemma3(fields(more)); };
  const std::string both =
      graph(R"("rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 100}},
               "rope_scaling": {"rope_type": "linear", "factor": 2})");
  EXPECT_TRUE(holds(both, "[0.5 0.05]")) << both;
  const std::string empty =
      graph(R"("rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 4,
               "rope_theta": 100}}, "rope_scaling": {})");
  EXPECT_TRUE(holds(empty, "[0.25 0.025]")) << empty;
  const std::string older =
      graph(R"("rope_theta": 100, "rope_scaling": {"type": "linear", "factor": 2})");
  EXPECT_TRUE(holds(older, "[0.5 0.05]")) << older;
  EXPECT_EQ(graph(R"("rope_parameters": {"full_attention": {"rope_theta": 100}},
                     "rope_scaling": {"rope_type": "linear", "factor": 0})"),
            "config.json: rope_parameters: full_attention, rope_scaling: factor is 0, expected a "
            "number above 0.");
}

}  // namespace
}  // namespace tokamak
