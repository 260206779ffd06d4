// The config and the tensors that NanoCodec reads.
#include <gtest/gtest.h>

#include "model/arch.h"
#include "model/nemo_config.h"

namespace tokamak {
namespace {

/// One rate, two columns after it; `from` becomes `to`.
Json config_with(const std::string& from = "", const std::string& to = "") {
  std::string text = R"({"architectures": ["NanoCodecDecoder"], "sample_rate": 8000,
      "samples_per_frame": 3,
      "audio_decoder": {"up_sample_rates": [3], "input_dim": 4, "base_channels": 4,
                        "in_kernel_size": 2, "out_kernel_size": 1, "resblock_kernel_sizes": [3],
                        "resblock_dilation_sizes": [2], "activation": "half_snake",
                        "output_activation": "clamp", "pad_mode": "zeros"},
      "vector_quantizer": {"num_groups": 2, "num_levels_per_group": [3, 2]}})";
  if (!from.empty()) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return json ? *json : Json();
}

enum class Spelling { kParametrizations, kWeightNorm, kFolded };

/// All the tensors that config asks for, but `without`.
TensorFile checkpoint(Spelling spelling, const std::string& without = "") {
  std::vector<TensorInfo> infos;
  const auto add = [&](const std::string& name, std::vector<uint64_t> shape) {
    if (name != without) infos.push_back({.name = name, .shape = std::move(shape)});
  };
  const auto convolution = [&](const std::string& name, std::vector<uint64_t> shape, uint64_t out) {
    const std::string p = "audio_decoder." + name;
    const std::vector<uint64_t> lengths = {shape[0], 1, 1};
    if (spelling == Spelling::kParametrizations) {
      add(p + ".parametrizations.weight.original0", lengths);
      add(p + ".parametrizations.weight.original1", shape);
    } else if (spelling == Spelling::kWeightNorm) {
      add(p + ".weight_g", lengths);
      add(p + ".weight_v", shape);
    } else {
      add(p + ".weight", shape);
    }
    add(p + ".bias", {out});
  };
  const auto snake = [&](const std::string& name, uint64_t rates) {
    add("audio_decoder." + name + ".activation.snake_act.alpha", {1, rates, 1});
  };
  convolution("pre_conv.conv", {4, 4, 2}, 4);
  snake("activations.0", 2);
  convolution("up_sample_conv_layers.0.conv", {4, 1, 6}, 2);
  const std::string block = "res_layers.0.res_blocks.0.res_blocks.0.";
  snake(block + "input_activation", 1);
  convolution(block + "input_conv.conv", {2, 2, 3}, 2);
  snake(block + "skip_activation", 1);
  convolution(block + "skip_conv.conv", {2, 2, 3}, 2);
  snake("post_activation", 1);
  convolution("post_conv.conv", {1, 2, 1}, 1);
  infos.push_back({.name = "audio_encoder.pre_conv.conv.bias", .shape = {24}});
  uint64_t size = 0;
  for (TensorInfo& info : infos) {
    info.offset = size;
    info.bytes = info.elements() * sizeof(float);
    size += info.bytes;
  }
  auto file = TensorFile::make({memory_source("memory", std::vector<std::byte>(size))},
                               std::move(infos), Json(Json::Object()));
  EXPECT_TRUE(file);
  return *std::move(file);
}

TEST(NanoCodec, ReadsWeightsInEverySpelling) {
  const Json config = config_with();
  for (const Spelling spelling :
       {Spelling::kParametrizations, Spelling::kWeightNorm, Spelling::kFolded}) {
    const TensorFile file = checkpoint(spelling);
    const auto model = build_nanocodec({config, "config.json"}, file);
    ASSERT_TRUE(model) << model.error().message;
    ASSERT_EQ(model->stages.size(), 2u);
    EXPECT_EQ(model->codes_per_group(), 6u);
    // The last stage reaches back 2 * 2 + 2 rows, two frames: with one row of upsampling and one
    // of the first convolution four.
    EXPECT_EQ(model->stages[1].reach, 6u);
    EXPECT_EQ(model->context_frames(), 4u);
  }
}

TEST(NanoCodec, ReportsWhichFieldIsWrong) {
  const auto error = [](const std::string& from, const std::string& to) {
    const Json config = config_with(from, to);
    const auto facts = nanocodec_facts({config, "config.json"});
    return facts ? "" : facts.error().message;
  };
  EXPECT_EQ(error(": 3,", ": 4,"),
            "config.json: samples_per_frame is 4, expected the product of up_sample_rates, at most "
            "16384.");
  EXPECT_EQ(
      error("[3], \"input", "[0], \"input"),
      "config.json: audio_decoder: up_sample_rates is not a list of 1 to 16 numbers from 1 to "
      "64.");
  EXPECT_EQ(
      error("dim\": 4", "dim\": 5"),
      "config.json: audio_decoder: input_dim is 5, expected 4: 2 numbers for each of 2 groups.");
  EXPECT_EQ(
      error("channels\": 4", "channels\": 2"),
      "config.json: audio_decoder: base_channels is 2, expected a multiple of 2 with 2 or more "
      "of it: each of 1 rates halves it.");
  EXPECT_EQ(error("half_snake", "lrelu"),
            "config.json: audio_decoder: activation is \"lrelu\", expected \"half_snake\".");
  EXPECT_EQ(error("[3, 2]", "[3, 1]"),
            "config.json: vector_quantizer: num_levels_per_group is not a list of 1 to 16 numbers "
            "from 2 to 4096.");
  EXPECT_EQ(error("[3, 2]", "[4096, 4097]"),
            "config.json: vector_quantizer: num_levels_per_group is not a list of 1 to 16 numbers "
            "from 2 to 4096.");
  EXPECT_EQ(error("[3, 2]", "[4096, 4096, 2]"),
            "config.json: vector_quantizer: num_levels_per_group makes more than 16777216 codes.");
  EXPECT_EQ(error("\"zeros\"", "\"zeros\", \"n_groups_equal_to_out_channels\": false"),
            "config.json: audio_decoder: n_groups_equal_to_out_channels is false; this engine "
            "upsamples two columns into one.");
}

TEST(NanoCodec, ReportsWhichTensorIsMissingOrAnother) {
  const Json config = config_with();
  const std::string bias = "audio_decoder.pre_conv.conv.bias";
  const auto missing =
      build_nanocodec({config, "config.json"}, checkpoint(Spelling::kWeightNorm, bias));
  ASSERT_FALSE(missing);
  EXPECT_EQ(
      missing.error().message,
      "The checkpoint has no tensor \"audio_decoder.pre_conv.conv.bias\"; the config asks for "
      "[4] of f32, f16 or bf16.");
  const Json other = config_with("in_kernel_size\": 2", "in_kernel_size\": 3");
  const auto wrong =
      build_nanocodec({other, "config.json"}, checkpoint(Spelling::kParametrizations));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(
      wrong.error().message,
      "The checkpoint has the tensor "
      "\"audio_decoder.pre_conv.conv.parametrizations.weight.original1\" as f32[4, 4, 2]; the "
      "config asks for [4, 4, 3] of f32, f16 or bf16.");
}

TEST(NanoCodec, IsWhatNemoCallsByItsClasses) {
  const auto of = [](const char* decoder) {
    Json config = *Json::parse(R"({"audio_decoder": {"_target_": "a.b.DECODER"},
        "vector_quantizer": {"_target_": "a.b.GroupFiniteScalarQuantizer"}})");
    config.find("audio_decoder")->set("_target_", decoder);
    return config_of_nemo(std::move(config));
  };
  const auto known = of("nemo.collections.CausalHiFiGANDecoder");
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->find("architectures")->as_array()[0].as_string(), "NanoCodecDecoder");
  const auto other = of("nemo.collections.HiFiGANDecoder");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "model_config.yaml: audio_decoder: _target_ is \"nemo.collections.HiFiGANDecoder\"; of "
            "NeMo's models this engine knows those with a CausalHiFiGANDecoder.");
}

}  // namespace
}  // namespace tokamak
