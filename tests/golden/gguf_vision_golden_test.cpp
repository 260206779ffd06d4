// Models that read images as two GGUF files, that of the text and that of the tower, give the
// recorded answers.
#include <cmath>

#include "engine/files/source_files.h"
#include "golden/gguf_fixture.h"
#include "golden/gguf_seeing_form.h"
#include "golden/vision_prompts.h"

namespace tokamak::golden {
namespace {

std::vector<std::pair<std::string, std::string>> siglip_names(const std::string& prefix) {
  return {{prefix + "embeddings.patch_embedding", "v.patch_embd"},
          {prefix + "embeddings.position_embedding", "v.position_embd"},
          {prefix + "post_layernorm", "v.post_ln"},
          {"layer_norm1", "ln1"},
          {"layer_norm2", "ln2"},
          {"self_attn.q_proj", "attn_q"},
          {"self_attn.k_proj", "attn_k"},
          {"self_attn.v_proj", "attn_v"},
          {"self_attn.out_proj", "attn_out"},
          {"mlp.fc1", "ffn_up"},
          {"mlp.fc2", "ffn_down"},
          {"multi_modal_projector.mm_input_projection_weight", "mm.input_projection.weight"},
          {"multi_modal_projector.mm_soft_emb_norm", "mm.soft_emb_norm"},
          {"model.connector.modality_projection.proj", "mm.model.fc"}};
}

/// All norms of the text, and of the tower the projector's, with their 1.
std::vector<LooseTensor> gemma3_tensors(LooseTensor tensor) {
  if (tensor.info.name.ends_with("norm.weight")) {
    change_floats(tensor, [](float w) { return w + 1; });
  }
  return {std::move(tensor)};
}

SeeingForm gemma3() {
  auto names = llama_names("language_model.model.");
  std::erase_if(names, [](const auto& one) { return one.first == "post_attention_layernorm"; });
  names.emplace_back("post_attention_layernorm", "post_attention_norm");
  names.emplace_back("pre_feedforward_layernorm", "ffn_norm");
  names.emplace_back("post_feedforward_layernorm", "post_ffw_norm");
  return {.text = {.architecture = "gemma3",
                   .metadata = gguf_sizes(64, 4, 2, 64, 2048,
                                          {{"attention.head_count_kv", 1},
                                           {"attention.key_length", 32},
                                           {"attention.value_length", 32},
                                           {"attention.layer_norm_rms_epsilon", 1e-6},
                                           {"attention.sliding_window", 12},
                                           {"attention.sliding_window_pattern", 4},
                                           {"rope.freq_base", 1e6},
                                           {"rope.scaling.type", "linear"},
                                           {"rope.scaling.factor", 8.0}}),
                   .layers = "language_model.model.layers.",
                   .names = names,
                   .change = gemma3_tensors,
                   .parts = {"language_model."},
                   .tokens = tokens_with(319, 319, "")},  // without that of images
          .tower = {.architecture = "clip",
                    .metadata = tower_sizes(
                        "gemma3", 2, 64, 64, 112, 14, 64,
                        {{"vision.projector.scale_factor", 2}, kMeanOfHalves, kStdOfHalves}),
                    .layers = "vision_tower.vision_model.encoder.layers.",
                    .names = siglip_names("vision_tower.vision_model."),
                    .change = gemma3_tensors,
                    .parts = {"vision_tower.", "multi_modal_projector."},
                    .blocks = "v.blk."}};
}

/// Numbers beside matrices are lists of one, and of a patch come all pixels of a channel in turn.
std::vector<LooseTensor> gemma4_tensors(LooseTensor tensor) {
  if (tensor.info.shape.empty()) tensor.info.shape = {1};
  if (tensor.info.name != "v.patch_embd.weight") return {std::move(tensor)};
  constexpr uint64_t kSide = 8, kPixels = kSide * kSide;
  const uint64_t rows = tensor.info.shape[0];
  tensor.info.shape = {rows * kPixels * 3};
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < rows * 3 * kPixels; ++i) {
    const uint64_t row = i / (3 * kPixels), channel = i / kPixels % 3, pixel = i % kPixels;
    order.push_back((row * kPixels + pixel) * 3 + channel);
  }
  tensor.take_rows(order);
  tensor.info.shape = {rows, 3, kSide, kSide};
  return {std::move(tensor)};
}

/// `is_small`: two layers of half the width, without inputs per layer.
SeeingForm gemma4(bool is_small) {
  const uint32_t hidden = is_small ? 32 : 64, layers = is_small ? 2 : 4, head = is_small ? 16 : 32;
  Json::Array slides;
  for (uint32_t i = 0; i < layers; ++i) slides.emplace_back(i % 2 == 0);
  auto text = llama_names("model.language_model.");
  std::erase_if(text, [](const auto& one) { return one.first == "post_attention_layernorm"; });
  for (const auto& [from, to] :
       {std::pair("post_attention_layernorm", "post_attention_norm"),
        std::pair("pre_feedforward_layernorm", "ffn_norm"),
        std::pair("post_feedforward_layernorm", "post_ffw_norm"),
        std::pair("layer_scalar", "layer_output_scale.weight"),
        std::pair("per_layer_input_gate", "inp_gate"), std::pair("per_layer_projection", "proj"),
        std::pair("post_per_layer_input_norm", "post_norm"),
        std::pair("model.language_model.embed_tokens_per_layer", "per_layer_token_embd"),
        std::pair("model.language_model.per_layer_model_projection", "per_layer_model_proj"),
        std::pair("model.language_model.per_layer_projection_norm", "per_layer_proj_norm")}) {
    text.emplace_back(from, to);
  }
  std::vector<std::pair<std::string, std::string>> names = {
      {"model.embed_vision.embedding_projection", "mm.input_projection"},
      {"model.vision_tower.patch_embedder.input_proj", "v.patch_embd"},
      {"model.vision_tower.patch_embedder.position_embedding_table", "v.position_embd.weight"},
      {"model.vision_tower.std_bias", "v.std_bias"},
      {"model.vision_tower.std_scale", "v.std_scale"},
      {"input_layernorm", "ln1"},
      {"post_attention_layernorm", "attn_post_norm"},
      {"pre_feedforward_layernorm", "ln2"},
      {"post_feedforward_layernorm", "ffn_post_norm"},
      {"self_attn.q_norm", "attn_q_norm"},
      {"self_attn.k_norm", "attn_k_norm"}};
  for (const auto& [from, to] :
       {std::pair("self_attn.q_proj", "attn_q"), std::pair("self_attn.k_proj", "attn_k"),
        std::pair("self_attn.v_proj", "attn_v"), std::pair("self_attn.o_proj", "attn_out"),
        std::pair("mlp.gate_proj", "ffn_gate"), std::pair("mlp.up_proj", "ffn_up"),
        std::pair("mlp.down_proj", "ffn_down")}) {
    names.emplace_back(fmt::format("{}.linear", from), to);
    for (const char* limit : {"input_min", "input_max", "output_min", "output_max"}) {
      names.emplace_back(fmt::format("{}.{}", from, limit), fmt::format("{}.{}", to, limit));
    }
  }
  std::vector<float> divisors(head, 1e30f);
  std::fill_n(divisors.begin(), head / 4, 1.0f);
  return {.text = {.architecture = "gemma4",
                   .metadata = gguf_sizes(hidden, layers, 2, 64, 2048,
                                          {{"attention.head_count_kv", 1},
                                           {"attention.key_length", 2 * head},
                                           {"attention.value_length", 2 * head},
                                           {"attention.key_length_swa", head},
                                           {"attention.value_length_swa", head},
                                           {"attention.layer_norm_rms_epsilon", 1e-6},
                                           {"attention.shared_kv_layers", is_small ? 0 : 1},
                                           {"attention.sliding_window", 40},
                                           {"attention.sliding_window_pattern", std::move(slides)},
                                           {"embedding_length_per_layer_input", is_small ? 0 : 32},
                                           {"final_logit_softcapping", 30.0},
                                           {"rope.freq_base", 1e6},
                                           {"rope.freq_base_swa", 1e4},
                                           {"rope.dimension_count", 2 * head},
                                           {"rope.dimension_count_swa", head}}),
                   .layers = "model.language_model.layers.",
                   .names = text,
                   .vectors = {{"rope_freqs.weight", divisors}},
                   .parts = {"model.language_model."},
                   .tokens = tokens_with(320, 319, "<|image|>")},
          .tower = {.architecture = "clip",
                    .metadata = tower_sizes("gemma4v", 2, 64, 64, 224, 8, hidden, {}),
                    .layers = "model.vision_tower.encoder.layers.",
                    .names = names,
                    .change = gemma4_tensors,
                    .parts = {"model.vision_tower.", "model.embed_vision."},
                    .blocks = "v.blk."}};
}

std::vector<LooseTensor> idefics3_text(LooseTensor tensor) {
  const bool is_q = tensor.info.name.find("attn_q.") != std::string::npos;
  const bool is_k = tensor.info.name.find("attn_k.") != std::string::npos;
  if (is_q || is_k) tensor.take_rows(rows_in_pairs(tensor.info.shape[0], is_q ? 2 : 1));
  return {std::move(tensor)};
}

GgufForm small_llama(const std::string& prefix, const std::string& head, double theta,
                     uint32_t image, const std::string& word) {
  return {.architecture = "llama",
          .metadata = gguf_sizes(48, 3, 2, 80, 2048,
                                 {{"attention.head_count_kv", 1},
                                  {"attention.key_length", 24},
                                  {"attention.value_length", 24},
                                  {"attention.layer_norm_rms_epsilon", 1e-5},
                                  {"rope.freq_base", theta}}),
          .layers = prefix + "layers.",
          .names = llama_names(prefix),
          .change = idefics3_text,
          .parts = {prefix, head},
          .tokens = tokens_with(96, image, word)};
}

/// Older files name the two matrices of an MLP the other way round.
SeeingForm idefics3(bool is_swapped) {
  auto names = siglip_names("model.vision_model.");
  for (auto& [from, to] : names) {
    if (is_swapped && from == "mlp.fc1") to = "ffn_down";
    if (is_swapped && from == "mlp.fc2") to = "ffn_up";
  }
  return {.text = small_llama("model.text_model.", "lm_head", 1e5, 83, "<image>"),
          .tower = {.architecture = "clip",
                    .metadata = tower_sizes("idefics3", 2, 32, 48, 32, 8, 48,
                                            {{"vision.projector.scale_factor", 2},
                                             {"vision.preproc_image_size", 72},
                                             kMeanOfHalves,
                                             kStdOfHalves}),
                    .layers = "model.vision_model.encoder.layers.",
                    .names = names,
                    .parts = {"model.vision_model.", "model.connector."},
                    .blocks = "v.blk."}};
}

/// Converters leave out what does not run.
std::vector<LooseTensor> llava_tensors(LooseTensor tensor) {
  const std::string_view name = tensor.info.name;
  if (name.starts_with("v.blk.2.") || name.starts_with("v.post_ln")) return {};
  return {std::move(tensor)};
}

SeeingForm llava() {
  constexpr uint32_t kProjection = 24;  // CLIP's own, which nobody reads
  auto names = siglip_names("vision_tower.vision_model.");
  names.emplace_back("vision_tower.vision_model.embeddings.class_embedding", "v.class_embd");
  names.emplace_back("vision_tower.vision_model.pre_layrnorm", "v.pre_ln");
  names.emplace_back("multi_modal_projector.linear_1", "mm.0");
  names.emplace_back("multi_modal_projector.linear_2", "mm.2");
  return {
      .text = small_llama("language_model.model.", "language_model.lm_head", 1e4, 95, "<image>"),
      .tower = {.architecture = "clip",
                .metadata = tower_sizes(
                    "mlp", 2, 32, 48, 40, 8, kProjection,
                    {{"vision.image_mean", Json::Array{0.48145466, 0.4578275, 0.40821073}},
                     {"vision.image_std", Json::Array{0.26862954, 0.26130258, 0.27577711}}}),
                .layers = "vision_tower.vision_model.encoder.layers.",
                .names = names,
                .change = llava_tensors,
                .parts = {"vision_tower.", "multi_modal_projector."},
                .blocks = "v.blk."}};
}

std::vector<LooseTensor> pixtral_tensors(LooseTensor tensor) {
  const bool turns = tensor.info.name.find("attn_q.") != std::string::npos ||
                     tensor.info.name.find("attn_k.") != std::string::npos;
  if (turns) tensor.take_rows(rows_in_pairs(tensor.info.shape[0], 2));
  return {std::move(tensor)};
}

SeeingForm mistral3() {
  return {
      .text = small_llama("language_model.model.", "language_model.lm_head", 1e6, 82, "[IMG]"),
      .tower = {.architecture = "clip",
                .metadata = tower_sizes("pixtral", 2, 32, 48, 96, 8, 48,
                                        {{"use_silu", true}, {"vision.spatial_merge_size", 2}}),
                .layers = "vision_tower.transformer.layers.",
                .names = {{"vision_tower.patch_conv", "v.patch_embd"},
                          {"vision_tower.ln_pre", "v.pre_ln"},
                          {"attention_norm", "ln1"},
                          {"ffn_norm", "ln2"},
                          {"attention.q_proj", "attn_q"},
                          {"attention.k_proj", "attn_k"},
                          {"attention.v_proj", "attn_v"},
                          {"attention.o_proj", "attn_out"},
                          {"feed_forward.gate_proj", "ffn_gate"},
                          {"feed_forward.up_proj", "ffn_up"},
                          {"feed_forward.down_proj", "ffn_down"},
                          {"multi_modal_projector.norm", "mm.input_norm"},
                          {"multi_modal_projector.patch_merger.merging_layer", "mm.patch_merger"},
                          {"multi_modal_projector.linear_1", "mm.1"},
                          {"multi_modal_projector.linear_2", "mm.2"}},
                .change = pixtral_tensors,
                .parts = {"vision_tower.", "multi_modal_projector."},
                .blocks = "v.blk."}};
}

const std::map<std::string, SeeingForm>& seeing_forms() {
  static const std::map<std::string, SeeingForm> forms = [] {
    std::map<std::string, SeeingForm> all = qwen_forms();
    all.insert({{"gemma3_vl", gemma3()},
                {"gemma4_vl", gemma4(false)},
                {"gemma4_vl_clipped", gemma4(true)},
                {"gemma4_vl_standardized", gemma4(true)},
                {"idefics3", idefics3(false)},
                {"idefics3_swapped", idefics3(true)},
                {"llava", llava()},
                {"mistral3_images", mistral3()}});
    return all;
  }();
  return forms;
}

std::vector<std::string> seeing_names() {
  std::vector<std::string> names;
  for (const auto& [name, form] : seeing_forms()) names.push_back(name);
  return names;
}

struct SeeingFile : GgufGolden {
  /// In a folder, with the text's beside it.
  const std::string folder = path + ".d";
  const std::string tower = folder + "/mmproj-F16.gguf", text = folder + "/model.gguf";
  const SeeingForm& form = seeing_forms().at(GetParam());
  const VisionModel model{GetParam().substr(0, GetParam().find("_swapped"))};

  void SetUp() override {
    std::filesystem::create_directories(folder);
    const auto checkpoint = open_safetensors_file(model.folder() + "/model.safetensors");
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    write_gguf(text, *checkpoint, form.text);
    write_gguf(tower, *checkpoint, form.tower);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// Gives the model of the files what they have no key for: how many tokens an image takes, and
  /// whether the text sees images as a whole, where the recorded one differs from published ones.
  void set_gemma4(ModelFiles& files) const {
    constexpr std::string_view kSees = "use_bidirectional_attention";
    const Json recorded = read_json(model.folder() + "/config.json");
    files.description.image_processor->set("max_soft_tokens", 70);
    for (auto& [name, value] : files.description.config.as_object()) {
      if (name != "text_config") continue;
      const Json& wanted = *recorded.find("text_config")->find(kSees);
      const bool has_inputs = *value.find("hidden_size_per_layer_input") != Json(0);
      EXPECT_EQ(value.find(kSees) != nullptr, !has_inputs);
      std::erase_if(value.as_object(), [&](const Json::Member& one) { return one.first == kSees; });
      value.set(std::string(kSees), wanted);
    }
  }
};

TEST_P(SeeingFile, GivesTheRecordedLogitsOfPromptsWithImages) {
  auto files = read_model_files(text);  // finds the other
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_NE(files->tower_note.find("mmproj-F16.gguf"), std::string::npos) << files->tower_note;
  if (const Json* tokenizer = model.golden().find("tokenizer"))
    files->tokenizer = tokenizer->dump();
  if (form.text.architecture == "gemma4") set_gemma4(*files);
  // Files ask for margins, which the recorded processor does not give images.
  if (GetParam() == "llava") {
    EXPECT_EQ(*files->description.image_processor->find("do_pad"), Json(true));
    files->description.image_processor->set("do_pad", false);
  }
  OpenOptions options = cpu.options;
  options.image_pixels = kImagePixels;
  const auto engine =
      Engine::load(*std::move(files), *open_backend(options), options, steady_clock());
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_TRUE((*engine)->compiled().vision) << (*engine)->compiled().text_only.message;
  for (const Json& chat : model.golden().find("chats")->as_array()) {
    SCOPED_TRACE(chat.find("name")->as_string());
    const ImagePrompt prompt = prompt_of(**engine, chat);
    auto session = (*engine)->start();
    ASSERT_TRUE(session) << session.error().message;
    const auto logits = session->feed(prompt.ids);
    ASSERT_TRUE(logits) << logits.error().message;
    EXPECT_LE(relative_error(floats_of(*chat.find("logits_last")), *logits), cpu.tolerance);
  }
}

TEST_P(SeeingFile, IsTheSameModelFromSourcesOfBytes) {
  const SourceFiles sources = {{"model.gguf", *open_file(text)}, {"sees.gguf", *open_file(tower)}};
  const auto together = read_model_files("page", sources), found = read_model_files(text);
  ASSERT_TRUE(together) << together.error().message;
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(together->description.config.dump(), found->description.config.dump());
  const auto blind = read_model_files("page", {{"sees.gguf", *open_file(tower)}});
  ASSERT_FALSE(blind);
  EXPECT_NE(blind.error().message.find("that of its text is missing"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Families, SeeingFile, testing::ValuesIn(seeing_names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace tokamak::golden
