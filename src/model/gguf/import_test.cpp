// Metadata and names of GGUF files, against the configs that transformers had for the same models.
#include "model/gguf/import.h"

#include <gtest/gtest.h>

#include <cstring>

#include "formats/native_files.h"
#include "model/arch.h"
#include "model/gguf/projector.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

const std::string kData = TOKAMAK_TEST_DATA "/gguf/";

#define EXPECT_MENTIONS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// A file that exists only in memory.
struct Fake {
  Json values;
  std::vector<TensorInfo> tensors;
  std::vector<std::byte> data;

  explicit Fake(std::string_view architecture) {
    values.set("general.architecture", architecture);
    for (const auto& [name, value] :
         {std::pair("embedding_length", 64), std::pair("block_count", 2),
          std::pair("attention.head_count", 4), std::pair("attention.head_count_kv", 2),
          std::pair("feed_forward_length", 96), std::pair("context_length", 512)}) {
      set(fmt::format("{}.{}", architecture, name), value);
    }
    set(fmt::format("{}.attention.layer_norm_rms_epsilon", architecture), 1e-5);
    add("token_embd.weight", {32, 64});
  }
  Fake& set(const std::string& key, Json value) {
    for (auto& [name, old] : values.as_object()) {
      if (name != key) continue;
      old = std::move(value);
      return *this;
    }
    values.set(key, std::move(value));
    return *this;
  }
  Fake& remove(const std::string& key) {
    std::erase_if(values.as_object(), [&](const Json::Member& m) { return m.first == key; });
    return *this;
  }
  Fake& add(std::string name, std::vector<uint64_t> shape, const std::vector<float>& numbers = {}) {
    TensorInfo tensor{.name = std::move(name), .shape = std::move(shape), .offset = data.size()};
    tensor.bytes = 4 * tensor.elements();
    data.resize(data.size() + tensor.bytes);
    if (!numbers.empty()) {
      std::memcpy(data.data() + tensor.offset, numbers.data(), 4 * numbers.size());
    }
    tensors.push_back(std::move(tensor));
    return *this;
  }
  Result<GgufFile> file(const std::string& name = "m.gguf") const {
    auto source = memory_source(name, data);
    TOK_TRY(TensorFile made, TensorFile::make({source}, tensors, values));
    return GgufFile{std::move(made), GgufMetadata(source, values, {})};
  }
  Result<GgufModel> import() const {
    TOK_TRY(const GgufFile made, file());
    return import_gguf(made);
  }
  /// The config as a file would have it, in which whole numbers are integers.
  Json config() const {
    auto model = import();
    if (model) return *Json::parse(model->config.dump());
    ADD_FAILURE() << model.error().message;
    return {};
  }
  std::string message() const {
    auto model = import();
    return model ? "no error" : model.error().message;
  }
};

/// Fields that a GGUF file does not have, or that say nothing about the computation.
bool is_elsewhere(std::string_view field) {
  for (const std::string_view name :
       {"bos_token_id", "eos_token_id", "pad_token_id", "attention_dropout", "use_cache",
        "initializer_range", "torch_dtype", "hidden_act", "hidden_activation"}) {
    if (field == name) return true;
  }
  return false;
}

TEST(GgufImport, MakesTheConfigsThatTransformersHad) {
  for (const std::string name :
       {"gemma3-mixed", "llama-mixed", "llama-q4_0", "llama-q4_k_m", "llama-q8_0"}) {
    SCOPED_TRACE(name);
    const auto file = open_gguf(kData + name + ".gguf");
    ASSERT_TRUE(file) << file.error().message;
    const auto model = import_gguf(*file);
    ASSERT_TRUE(model) << model.error().message;
    const Json& config = model->config;
    const Json golden = *Json::parse(*read_text_file(kData + name + ".golden.json", 1 << 20));
    for (const auto& [field, wanted] : golden.find("hf_config")->as_object()) {
      if (is_elsewhere(field)) continue;
      const Json* found = config.find(field);
      if (wanted.is_null() || wanted == Json(false)) {
        EXPECT_TRUE(found == nullptr || *found == wanted) << field;
      } else if (found == nullptr) {
        ADD_FAILURE() << field << " is missing";
      } else if (wanted.is_number() && found->is_number()) {
        EXPECT_EQ(float(wanted.as_number()), float(found->as_number())) << field;
      } else {
        EXPECT_EQ(wanted, *found) << field;
      }
    }
  }
}

TEST(GgufImport, GivesTensorsTheirNamesInCheckpoints) {
  const auto llama = open_gguf(kData + "llama-mixed.gguf");
  ASSERT_TRUE(llama) << llama.error().message;
  const auto model = import_gguf(*llama);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->tensors.tensors().size(), 21u);
  for (const TensorInfo& tensor : model->tensors.tensors()) {
    EXPECT_TRUE(tensor.name.starts_with("model.") || tensor.name == "lm_head.weight")
        << tensor.name;
    EXPECT_FALSE(tensor.raised) << tensor.name;
  }
  const auto heads = [&](const char* name) {
    const TensorInfo* tensor = model->tensors.find(name);
    return tensor == nullptr ? 1000 : tensor->rope_heads;
  };
  EXPECT_EQ(heads("model.layers.1.self_attn.q_proj.weight"), 4u);
  EXPECT_EQ(heads("model.layers.1.self_attn.k_proj.weight"), 2u);
  EXPECT_EQ(heads("model.layers.1.self_attn.v_proj.weight"), 0u);

  const auto gemma = open_gguf(kData + "gemma3-mixed.gguf");
  ASSERT_TRUE(gemma) << gemma.error().message;
  const auto raised = import_gguf(*gemma);
  ASSERT_TRUE(raised) << raised.error().message;
  for (const TensorInfo& tensor : raised->tensors.tensors()) {
    EXPECT_EQ(tensor.raised, tensor.shape.size() == 1) << tensor.name;
    EXPECT_EQ(tensor.rope_heads, 0u) << tensor.name;
  }
  for (const char* name : {"pre_feedforward_layernorm", "post_feedforward_layernorm",
                           "post_attention_layernorm", "self_attn.k_norm"}) {
    EXPECT_NE(raised->tensors.find(fmt::format("model.layers.5.{}.weight", name)), nullptr) << name;
  }
}

TEST(GgufImport, NamesAKeyThatIsMissingOrWrong) {
  EXPECT_EQ(Fake("llama").remove("llama.block_count").message(),
            "m.gguf: llama.block_count is missing, expected an integer between 1 and 2147483647.");
  EXPECT_MENTIONS(Fake("llama").remove("llama.attention.layer_norm_rms_epsilon").message(),
                  "m.gguf: llama.attention.layer_norm_rms_epsilon is missing");
  EXPECT_MENTIONS(Fake("llama").set("llama.attention.head_count", 0).message(),
                  "llama.attention.head_count is 0");
  EXPECT_MENTIONS(Fake("llama").remove("general.architecture").message(),
                  "m.gguf: general.architecture is missing");
  EXPECT_EQ(Fake("bloom").message(),
            "m.gguf: general.architecture is \"bloom\"; this engine reads gemma-embedding, gemma3, "
            "gemma4, lfm2, lfm2moe, llama, phi3, qwen2, qwen2vl, qwen3, qwen35, qwen35moe, "
            "qwen3next, qwen3vl, qwen3vlmoe, qwen3moe, apertus, arcee, command-r, gpt2, gptneox, "
            "internlm2, "
            "llama4, minicpm, bert, jina-bert-v2, "
            "modern-bert, nomic-bert, nomic-bert-moe, cohere2, deepseek2, ernie4_5, ernie4_5-moe, "
            "exaone4, "
            "falcon-h1, gemma, gemma2, glm4, glm4moe, gpt-oss, granite, granitehybrid, "
            "hunyuan-dense, minimax-m2, mistral3, nemotron_h, nemotron_h_moe, olmo2, phi2, "
            "seed_oss, stablelm, starcoder2, smollm3 from GGUF files.");
  Fake without("llama");
  without.tensors.clear();
  EXPECT_MENTIONS(without.message(), "no matrix \"token_embd.weight\"");
}

TEST(GgufImport, NamesTheDeltaRuleInTheWordsOfCheckpoints) {
  Fake fake("qwen35");
  for (const auto& [name, value] :
       {std::pair("ssm.conv_kernel", 4), std::pair("ssm.state_size", 8),
        std::pair("ssm.group_count", 2), std::pair("ssm.time_step_rank", 4),
        std::pair("ssm.inner_size", 64), std::pair("nextn_predict_layers", 1),
        std::pair("rope.dimension_count", 4)}) {
    fake.set(fmt::format("qwen35.{}", name), value);
  }
  fake.add("blk.0.ssm_a", {4}).add("blk.0.ssm_dt.bias", {4}).add("blk.0.ssm_conv1d.weight", {8, 4});
  fake.add("blk.1.attn_norm.weight", {64});
  const auto model = fake.import();
  ASSERT_TRUE(model) << model.error().message;
  const Json& config = model->config;
  for (const auto& [name, value] :
       {std::pair("num_hidden_layers", 1), std::pair("linear_num_key_heads", 2),
        std::pair("linear_num_value_heads", 4), std::pair("linear_key_head_dim", 8),
        std::pair("linear_value_head_dim", 16), std::pair("linear_conv_kernel_dim", 4)}) {
    EXPECT_EQ(*config.find(name), Json(value)) << name;
  }
  EXPECT_EQ(*config.find("partial_rotary_factor"), Json(0.25));
  const std::string at = "model.layers.0.linear_attn.";
  EXPECT_NE(model->tensors.find(at + "A_log"), nullptr);
  EXPECT_NE(model->tensors.find(at + "dt_bias"), nullptr);
  ASSERT_NE(model->tensors.find(at + "conv1d.weight"), nullptr);
  EXPECT_EQ(model->tensors.find(at + "conv1d.weight")->shape, (std::vector<uint64_t>{8, 1, 4}));
  EXPECT_NE(model->tensors.find("mtp.blk.1.attn_norm.weight"), nullptr);
}

TEST(GgufImport, RefusesWhatNoArchitectureHereComputes) {
  for (const char* key :
       {"llama.logit_scale", "llama.attention.scale", "llama.attention.clamp_kqv"}) {
    EXPECT_MENTIONS(Fake("llama").set(key, 2).message(), key);
  }
  EXPECT_MENTIONS(Fake("qwen3").set("qwen3.expert_count", 2).message(), "qwen3.expert_count");
  EXPECT_EQ(Fake("llama").set("llama.expert_count", 0).message(), "no error");
  EXPECT_EQ(Fake("llama").set("llama.logit_scale", 0).message(), "no error");
  EXPECT_MENTIONS(Fake("qwen3").set("qwen3.attention.causal", false).message(),
                  "qwen3.attention.causal is false; this engine does not run such models.");
  EXPECT_MENTIONS(Fake("llama").set("llama.attention.value_length", 8).message(), "value_length");
  EXPECT_MENTIONS(Fake("llama").set("llama.rope.dimension_count", 8).message(), "dimension_count");
  EXPECT_MENTIONS(Fake("llama").set("llama.rope.freq_base", HUGE_VAL).message(), "rope.freq_base");
}

TEST(GgufImport, KeepsUnknownTensors) {
  const auto model = Fake("llama").add("blk.0.attn_sinks.weight", {4}).import();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_NE(model->tensors.find("blk.0.attn_sinks.weight"), nullptr);
}

TEST(GgufImport, TiesTheHeadThatIsAbsent) {
  EXPECT_EQ(*Fake("llama").config().find("tie_word_embeddings"), Json(true));
  EXPECT_EQ(*Fake("llama").add("output.weight", {32, 64}).config().find("tie_word_embeddings"),
            Json(false));
}

TEST(GgufImport, FindsBiasesAndWindowsOfLlamaFiles) {
  const Json plain = Fake("llama").config();
  EXPECT_EQ(*plain.find("attention_bias"), Json(false));
  EXPECT_EQ(plain.find("sliding_window"), nullptr);
  const Json other = Fake("llama")
                         .add("blk.0.attn_q.bias", {64})
                         .set("llama.attention.sliding_window", 128)
                         .config();
  EXPECT_EQ(*other.find("attention_bias"), Json(true));
  EXPECT_EQ(other.find("architectures")->dump(), "[\"MistralForCausalLM\"]");
  EXPECT_EQ(*other.find("sliding_window"), Json(128));
}

TEST(GgufImport, DividesFrequenciesByTheTensor) {
  const std::vector<float> divisors = {1, 1, 1, 2.5f, 8, 8, 8, 8};
  const Json config = Fake("llama").add("rope_freqs.weight", {8}, divisors).config();
  ConfigReader fields(*config.find("rope_scaling"), "rope_scaling");
  uint32_t positions = 4096;
  const RopeTable table = read_rope(fields, 10000.0, 16, positions);
  EXPECT_TRUE(fields.status());
  Json none{Json::Object{}};
  ConfigReader plain(none, "none");
  const RopeTable whole = read_rope(plain, 10000.0, 16, positions);
  for (size_t i = 0; i < divisors.size(); ++i) {
    EXPECT_EQ(table.inverse_frequencies[i],
              float(double(whole.inverse_frequencies[i]) / double(divisors[i])));
  }
  EXPECT_MENTIONS(
      Fake("llama").add("rope_freqs.weight", {2, 4}).message(),
      "Tensor \"rope_freqs.weight\" is f32[2, 4], expected f32 and one frequency each.");
}

TEST(GgufImport, MapsTheScalingsOfRotaryPositions) {
  const auto scaling = [](const Fake& fake) { return fake.config().find("rope_scaling")->dump(); };
  Fake linear("gemma3");
  linear.set("gemma3.rope.freq_base", 1e6).set("gemma3.rope.scaling.type", "linear");
  linear.set("gemma3.rope.scaling.factor", 8.0);
  EXPECT_EQ(*Json::parse(scaling(linear))->find("factor"), Json(8));
  EXPECT_EQ(scaling(Fake("llama")), "null");
  Fake far("phi3");
  far.add("rope_factors_long.weight", {2}, {3, 4}).add("rope_factors_short.weight", {2}, {1, 2});
  far.set("phi3.rope.scaling.attn_factor", 1.25).set("phi3.rope.dimension_count", 4);
  far.set("phi3.rope.scaling.original_context_length", 128);
  const Json config = far.config();
  EXPECT_EQ(config.find("rope_scaling")->dump(),
            R"({"rope_type": "longrope", "long_factor": [3, 4], "short_factor": [1, 2], )"
            R"("attention_factor": 1.25})");
  EXPECT_EQ(*config.find("original_max_position_embeddings"), Json(128));
  EXPECT_EQ(*config.find("partial_rotary_factor"), Json(0.25));
  EXPECT_EQ(config.find("sliding_window"), nullptr);
  far.set("phi3.attention.sliding_window", 2047);
  EXPECT_EQ(*far.config().find("sliding_window"), Json(2047));
}

TEST(GgufImport, ReadsTheOlderKeyOfLinearScaling) {
  const auto factor = [](const Fake& fake) {
    const Json scaling = *fake.config().find("rope_scaling");
    return scaling.is_null() ? Json() : *scaling.find("factor");
  };
  EXPECT_EQ(factor(Fake("llama").set("llama.rope.scale_linear", 4.0)), Json(4));
  EXPECT_EQ(factor(Fake("llama").set("llama.rope.scale_linear", 1.0)), Json());
  EXPECT_EQ(factor(Fake("llama").set("llama.rope.scale_linear", 0.0)), Json());
  EXPECT_EQ(factor(Fake("llama").set("llama.rope.scaling.factor", 0.0)), Json());
  Fake both("llama");  // the newer key counts
  both.set("llama.rope.scale_linear", 4.0).set("llama.rope.scaling.factor", 2.0);
  EXPECT_EQ(factor(both), Json(2));
  EXPECT_MENTIONS(Fake("llama").set("llama.rope.scale_linear", -1.0).message(),
                  "llama.rope.scale_linear is -1");
}

TEST(GgufImport, RefusesSizesThatCannotBeDoubled) {
  Fake gemma("gemma4");
  gemma.set("gemma4.attention.key_length", 16).set("gemma4.attention.sliding_window", 8);
  gemma.set("gemma4.attention.shared_kv_layers", 1);
  const auto of_width = [&](int64_t first, int64_t last) {
    return gemma.set("gemma4.feed_forward_length", Json::Array{first, last}).message();
  };
  EXPECT_EQ(of_width(96, 192), "no error");
  for (const int64_t width : {INT64_MAX, INT64_MIN, int64_t{1} << 30, int64_t{0}, int64_t{-96}}) {
    EXPECT_MENTIONS(of_width(width, 96), "feed_forward_length has");
  }
}

TEST(GgufImport, RefusesAScalingBesideTheRotationOfGemma4) {
  Fake gemma("gemma4");
  gemma.set("gemma4.attention.key_length", 16).set("gemma4.attention.sliding_window", 8);
  EXPECT_EQ(gemma.message(), "no error");
  gemma.set("gemma4.rope.scaling.type", "yarn").set("gemma4.rope.scaling.factor", 4.0);
  EXPECT_MENTIONS(gemma.message(), "gemma4.rope.scaling.type is set");
}

TEST(GgufImport, ReadsYarnAsLlamaCppDoes) {
  Fake yarn("qwen3");
  const auto read = [&] {
    const Json scaling = *yarn.config().find("rope_scaling");
    ConfigReader fields(scaling, "rope_scaling");
    uint32_t positions = 128;
    RopeTable table = read_rope(fields, 10000.0, 16, positions);
    EXPECT_TRUE(fields.status());
    return std::pair(table, positions);
  };
  yarn.set("qwen3.rope.scaling.type", "yarn").set("qwen3.rope.scaling.factor", 4.0);
  yarn.set("qwen3.rope.scaling.original_context_length", 64);
  const auto [table, positions] = read();
  EXPECT_EQ(positions, 256u);
  EXPECT_FLOAT_EQ(table.inverse_frequencies[1], 0.23717082f);  // as in config_test
  EXPECT_FLOAT_EQ(table.inverse_frequencies[7], 7.9056942e-05f);
  EXPECT_FLOAT_EQ(table.factor, 1.138629436f);  // 0.1 ln 4 + 1
  yarn.set("qwen3.rope.scaling.attn_factor", 0.5).set("qwen3.rope.scaling.yarn_ext_factor", 1.0);
  yarn.set("qwen3.rope.scaling.yarn_attn_factor", 7.0);
  EXPECT_FLOAT_EQ(read().first.factor, 0.569314718f);
  yarn.set("qwen3.rope.scaling.yarn_log_multiplier", 0.5);
  EXPECT_FLOAT_EQ(read().first.factor, 0.5324108f);  // divided by 0.05 ln 4 + 1
  yarn.set("qwen3.rope.scaling.yarn_beta_fast", 4.0).set("qwen3.rope.scaling.yarn_beta_slow", 3.0);
  EXPECT_NE(read().first.inverse_frequencies, table.inverse_frequencies);
  yarn.set("qwen3.rope.scaling.yarn_ext_factor", 0.5);
  EXPECT_MENTIONS(yarn.message(), "qwen3.rope.scaling.yarn_ext_factor is not 1");
}

TEST(GgufImport, ReadsTheWindowsOfGemma) {
  Fake gemma("gemma3");
  gemma.set("gemma3.rope.freq_base", 1e6);
  EXPECT_EQ(gemma.config().find("layer_types")->dump(), R"(["full_attention", "full_attention"])");
  gemma.set("gemma3.attention.sliding_window", 64);
  EXPECT_EQ(*gemma.config().find("sliding_window_pattern"), Json(6));
  gemma.set("gemma3.attention.sliding_window_pattern", Json::Array{true, false});
  EXPECT_EQ(gemma.config().find("layer_types")->dump(),
            R"(["sliding_attention", "full_attention"])");
  gemma.set("gemma3.attention.sliding_window_pattern", Json::Array{0, 1});
  EXPECT_EQ(gemma.config().find("layer_types")->dump(),
            R"(["full_attention", "sliding_attention"])");
  EXPECT_EQ(*gemma.config().find("query_pre_attn_scalar"), Json(16));
  gemma.set("gemma3.block_count", 62).set("gemma3.attention.key_length", 32);
  EXPECT_EQ(*gemma.config().find("query_pre_attn_scalar"), Json(16));
  gemma.set("gemma3.attention.scale", 0.5);
  EXPECT_EQ(*gemma.config().find("query_pre_attn_scalar"), Json(4));
  EXPECT_MENTIONS(Fake("gemma3").message(), "gemma3.rope.freq_base is missing");
}

TEST(GgufImport, CutsExpertsOutOfTheirTensor) {
  Fake moe("qwen3moe");
  moe.set("qwen3moe.expert_count", 4).set("qwen3moe.expert_used_count", 2);
  moe.set("qwen3moe.expert_feed_forward_length", 16);
  moe.add("blk.1.ffn_up_exps.weight", {4, 16, 64}).add("blk.0.ffn_gate.weight", {96, 64});
  const auto model = moe.import();
  ASSERT_TRUE(model) << model.error().message;
  const TensorInfo* last = model->tensors.find("model.layers.1.mlp.experts.3.up_proj.weight");
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(describe(*last), "f32[16, 64]");
  EXPECT_EQ(last->bytes, 16u * 64 * 4);
  EXPECT_EQ(last->offset, moe.tensors[1].offset + 3 * last->bytes);
  EXPECT_EQ(moe.config().find("mlp_only_layers")->dump(), "[0]");
  EXPECT_EQ(*moe.config().find("moe_intermediate_size"), Json(16));
}

TEST(GgufImport, FindsTheConvolutionsOfLfm2) {
  Fake lfm2("lfm2");
  lfm2.set("lfm2.attention.head_count_kv", Json::Array{0, 2}).set("lfm2.shortconv.l_cache", 3);
  lfm2.add("blk.0.shortconv.conv.weight", {64, 3}).add("token_embd_norm.weight", {64});
  const auto model = lfm2.import();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(describe(*model->tensors.find("model.layers.0.conv.conv.weight")), "f32[64, 1, 3]");
  EXPECT_NE(model->tensors.find("model.embedding_norm.weight"), nullptr);
  const Json config = lfm2.config();
  EXPECT_EQ(config.find("layer_types")->dump(), R"(["conv", "full_attention"])");
  EXPECT_EQ(*config.find("num_key_value_heads"), Json(2));
}

/// The sizes of Fake's texts.
Fake tower(std::string_view type) {
  Fake fake("clip");
  return fake.set("clip.projector_type", type).set("clip.vision.projection_dim", 64);
}

std::string mistake(const Fake& text, const Fake& projector) {
  const auto model = import_gguf(*text.file(), *projector.file("mmproj.gguf"));
  return model ? "no error" : model.error().message;
}

TEST(GgufProjector, IsForArchitecturesThatReadImages) {
  for (const gguf::Tower& one : gguf::towers()) {
    const auto found = std::ranges::find(architectures(), one.name, &Architecture::name);
    ASSERT_NE(found, architectures().end()) << one.name;
    EXPECT_NE(found->vision, nullptr) << one.name;
    EXPECT_EQ(found->model_type, one.model_type);
  }
}

TEST(GgufProjector, IsRefusedWhereItIsNotForTheText) {
  EXPECT_EQ(mistake(Fake("llama"), tower("gemma3")),
            "mmproj.gguf: clip.projector_type is \"gemma3\", which is for a text model of gemma3, "
            "but m.gguf is one of llama.");
  EXPECT_EQ(mistake(Fake("gemma3"), tower("gemma3").set("clip.vision.projection_dim", 96)),
            "mmproj.gguf: clip.vision.projection_dim is 96, but m.gguf: gemma3.embedding_length is "
            "64: the tower is that of a model of another size.");
  EXPECT_EQ(mistake(Fake("llama"), tower("ldp")),
            "mmproj.gguf: clip.projector_type is \"ldp\"; this engine reads gemma3, gemma4v, "
            "idefics3, mlp, pixtral, qwen2vl_merger, qwen2.5vl_merger, qwen3vl_merger.");
  const auto next = [](Fake llava) {
    for (const char* key : {"block_count", "embedding_length", "attention.head_count",
                            "feed_forward_length", "image_size", "patch_size"}) {
      llava.set(fmt::format("clip.vision.{}", key), 8);
    }
    return llava.set("clip.vision.mm_patch_merge_type", "spatial_unpad");
  };
  EXPECT_EQ(
      mistake(Fake("llama"), next(tower("mlp"))),
      "mmproj.gguf is LLaVA-NeXT's, which sees an image in tiles; this engine runs LLaVA 1.5, "
      "which sees it as one square.");
  EXPECT_EQ(mistake(Fake("gemma3"), Fake("gemma3")),
            "mmproj.gguf: general.architecture is \"gemma3\", expected \"clip\": the file of a "
            "tower of images (mmproj).");
  EXPECT_MENTIONS(mistake(Fake("llama"), tower("idefics3").remove("clip.vision.projection_dim")),
                  "clip.vision.projection_dim is missing");
  EXPECT_MENTIONS(mistake(Fake("llama"), Fake("clip")), "clip.projector_type is missing");
  EXPECT_MENTIONS(Fake("clip").message(), "expected the file of the text beside it");
  EXPECT_MENTIONS(mistake(Fake("llama"), tower("idefics3")), "clip.vision.block_count is missing");
}

}  // namespace
}  // namespace tokamak
