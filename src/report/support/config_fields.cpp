#include "report/support/config_fields.h"

#include <algorithm>

#include "base/check.h"
#include "report/support/wished_model.h"

namespace tokamak {
namespace {

struct Ignored {
  std::string_view name, reason;
};

constexpr std::string_view kTraining = "for training";
constexpr std::string_view kLabel = "a label of the file";
constexpr std::string_view kLibrary = "how the reference computes, not what";
constexpr std::string_view kEngine = "read by the engine, not by the architecture";
constexpr std::string_view kUnreadInput = "a mark of what is not read here";
constexpr std::string_view kClasses = "of a head for classes";
constexpr std::string_view kProcessor = "preprocessor_config.json decides";
constexpr std::string_view kTokens = "the tokenizer and the template decide";

constexpr Ignored kIgnored[] = {
    {"_attn_implementation_autoset", kLibrary},
    {"_experts_implementation", kLibrary},
    {"_name_or_path", kLabel},
    {"activation_dropout", kTraining},
    {"architectures", kEngine},
    {"attention_dropout", kTraining},
    {"attention_probs_dropout_prob", kTraining},
    {"attn_implementation", kLibrary},
    {"attn_pdrop", kTraining},
    {"audio_config", "a tower that is not read here"},
    {"audio_token_id", kUnreadInput},
    {"auto_map", kLabel},
    {"begin_suppress_tokens", "generation_config.json decides"},
    {"block_dim", "another name of hidden_size"},
    {"boa_token_id", kUnreadInput},
    {"boi_token_id", kTokens},
    {"boi_token_index", kTokens},
    {"bos_token_id", kTokens},
    {"classifier_dropout", kTraining},
    {"cls_token_id", kTokens},
    {"decoder_bias", "of a head for masked words"},
    {"decoder_layerdrop", kTraining},
    {"deterministic_flash_attn", kLibrary},
    {"dropout", kTraining},
    {"dtype", "the tensors have their types"},
    {"embd_pdrop", kTraining},
    {"embedding_dropout", kTraining},
    {"encoder_layerdrop", kTraining},
    {"eoa_token_id", kUnreadInput},
    {"eoa_token_index", kUnreadInput},
    {"eoi_token_id", kTokens},
    {"eoi_token_index", kTokens},
    {"eos_token_id", kEngine},
    {"hidden_dropout_prob", kTraining},
    {"id2label", "names of classes, of which a ranker has one"},
    {"ignore_index", kTraining},
    {"image_seq_length", "the tower's sizes decide"},
    {"in_channels", "images have three colours"},
    {"in_chans", "images have three colours"},
    {"init_std", kTraining},
    {"initializer_cutoff_factor", kTraining},
    {"initializer_factor", kTraining},
    {"initializer_range", kTraining},
    {"is_encoder_decoder", "the architecture says so"},
    {"label2id", "names of classes, of which a ranker has one"},
    {"layerdrop", kTraining},
    {"logn_attention_clip1", "of scales of queries, which are refused"},
    {"mamba_chunk_size", kLibrary},
    {"mamba_ssm_dtype", "states are f32 here"},
    {"max_image_size", kProcessor},
    {"max_trained_positions", "for texts beyond them, which are refused"},
    {"mlp_dropout", kTraining},
    {"model_max_length", kTokens},
    {"model_type", kEngine},
    {"moe_impl", kLibrary},
    {"moe_resid_pdrop", kTraining},
    {"n_ctx", "another name of n_positions"},
    {"num_channels", "images have three colours"},
    {"output_router_logits", kTraining},
    {"pad_head_dim_to_multiple_of", kLibrary},
    {"pad_token_id", kTokens},
    {"pad_vocab_size_multiple", "vocab_size has the padding"},
    {"pixel_shuffle_factor", "scale_factor decides"},
    {"post_norm", "the reference norms before the parts whatever it says"},
    {"pretraining_tp", kTraining},
    {"projection_dim", "of CLIP's own head, which is not read here"},
    {"qk_norm", "the reference norms q and k whatever it says"},
    {"quantization", kEngine},
    {"quantization_config", kEngine},
    {"qa_dropout", kTraining},
    {"reference_compile", kLibrary},
    {"reorder_and_upcast_attn", kLibrary},
    {"resid_pdrop", kTraining},
    {"router_aux_loss_coef", kTraining},
    {"router_jitter_noise", kTraining},
    {"sep_token_id", kTokens},
    {"seq_classif_dropout", kTraining},
    {"sinusoidal_pos_embds", "the file has the table of positions"},
    {"size", kProcessor},
    {"spatial_patch_size", "another name of patch_size"},
    {"sparse_pred_ignore_index", kTraining},
    {"sparse_prediction", kTraining},
    {"summary_activation", kClasses},
    {"summary_first_dropout", kClasses},
    {"summary_proj_to_labels", kClasses},
    {"summary_type", kClasses},
    {"summary_use_proj", kClasses},
    {"suppress_tokens", "generation_config.json decides"},
    {"task_specific_params", kLibrary},
    {"text_vocab_size", "audio_tokens_start decides"},
    {"tie_weights_", kTraining},
    {"tokens_per_second", "of videos, which are not read here"},
    {"torch_dtype", "the tensors have their types"},
    {"transformers_version", kLabel},
    {"unpad_inputs", kLibrary},
    {"use_cache", kLibrary},
    {"use_memory_efficient_attention", kLibrary},
    {"video_token_id", kUnreadInput},
    {"vision_end_token_id", kTokens},
    {"vision_start_token_id", kTokens},
    {"vision_token_id", kUnreadInput},
    {"vision_use_head", "a head for classes of images"},
};

struct IgnoredBy {
  std::string_view architecture;  // the beginning of its name
  std::string_view name, reason;
};

constexpr std::string_view kReference = "not read by the reference either";
constexpr std::string_view kOuter = "of the encoder's own object";
constexpr std::string_view kOneText = "text alone has one position a token";

constexpr IgnoredBy kIgnoredBy[] = {
    {"Cohere2", "order_of_interleaved_layers", kReference},
    {"Cohere2", "position_embedding_type", kReference},
    {"Cohere2", "rotary_pct", kReference},
    {"Cohere2", "use_embedding_sharing", kReference},
    {"Cohere2", "use_gated_activation", kReference},
    {"Cohere2", "use_parallel_block", kReference},
    {"Cohere2", "use_parallel_embedding", kReference},
    {"DeepseekV2", "n_group", "read where topk_method chooses groups"},
    {"DeepseekV2", "topk_group", "read where topk_method chooses groups"},
    {"Exaone4", "sliding_window_pattern", "layer_types decides"},
    {"Gemma2For", "hidden_act", "hidden_activation decides"},
    {"Gemma4", "moe_intermediate_size", "read where there are experts"},
    {"Gemma4", "top_k_experts", "read where there are experts"},
    {"GemmaFor", "hidden_act", "hidden_activation decides"},
    {"HunYuanDense", "beta_fast", "alpha decides"},
    {"HunYuanDense", "beta_slow", "alpha decides"},
    {"HunYuanDense", "factor", "alpha decides"},
    {"HunYuanDense", "mscale", "alpha decides"},
    {"HunYuanDense", "mscale_all_dim", "alpha decides"},
    {"HunYuanDense", "use_qk_norm", kReference},
    {"KaniTTS2", "intermediate_size", "block_ff_dim decides"},
    {"Lfm2For", "intermediate_size", "block_ff_dim decides"},
    {"MiniMaxM2", "scoring_func", kReference},
    {"MiniMaxM2", "use_routing_bias", kReference},
    {"ModernBert", "classifier_activation", kClasses},
    {"ModernBert", "classifier_bias", kClasses},
    {"ModernBert", "classifier_pooling", kClasses},
    {"ModernBert", "layer_norm_eps", "norm_eps decides"},
    {"ModernBert", "position_embedding_type", kReference},
    {"MoonshineStreaming", "attention_bias", kOuter},
    {"MoonshineStreaming", "max_position_embeddings", kReference},
    {"MoonshineStreaming", "num_key_value_heads", kOuter},
    {"NemotronH", "chunk_size", kLibrary},
    {"NemotronH", "expand", "heads and their size decide"},
    {"NemotronH", "n_shared_experts", "moe_shared_expert_intermediate_size decides"},
    {"NomicBert", "rotary_scaling_factor", "where it stands, the context ends with the training's"},
    {"Qwen3MoeFor", "max_window_layers", "windows are in every layer"},
    {"Qwen3NextFor", "use_sliding_window", kReference},
    {"Qwen3_5", "mrope_interleaved", kOneText},
    {"Qwen3_5", "mrope_section", kOneText},
    {"SmolLM3", "layer_types", "windows are refused"},
    {"SmolLM3", "sliding_window", "windows are refused"},
};

constexpr const char* kWhere = "config.json";

/// Names may have dots themselves, as those of modules do in quantization_config.
constexpr char kSeparator = '.';

void add_paths(const Json& object, const std::string& prefix, std::vector<std::string>& out) {
  for (const auto& [name, value] : object.as_object()) {
    out.push_back(prefix + name);
    if (value.is_object() && ignored_reason(name, "").empty()) {
      add_paths(value, prefix + name + kSeparator, out);
    }
  }
}

Json with_field(const Json& config, std::string_view path, Json value) {
  Json out = config;
  const_cast<Json&>(field_at(out, path)) = std::move(value);  // `out` is not constant itself
  return out;
}

bool lies_within(std::string_view path, std::string_view object) {
  return path.size() > object.size() && path.starts_with(object) &&
         path[object.size()] == kSeparator;
}

}  // namespace

std::string_view ignored_reason(std::string_view path, std::string_view architecture) {
  const size_t dot = path.rfind(kSeparator);
  const std::string_view name = dot == path.npos ? path : path.substr(dot + 1);
  const auto found = std::ranges::find(kIgnored, name, &Ignored::name);
  if (found != std::end(kIgnored)) return found->reason;
  const auto own = std::ranges::find_if(kIgnoredBy, [&](const IgnoredBy& one) {
    return one.name == name && architecture.starts_with(one.architecture);
  });
  return own == std::end(kIgnoredBy) ? std::string_view() : own->reason;
}

std::vector<std::string> field_paths(const Json& config) {
  std::vector<std::string> out;
  if (config.is_object()) add_paths(config, "", out);
  return out;
}

const Json& field_at(const Json& config, std::string_view path) {
  if (const Json* whole = config.find(path)) return *whole;
  const size_t dot = path.find(kSeparator);
  const Json* inner = config.find(path.substr(0, dot));
  TOK_CHECK(dot != path.npos && inner != nullptr);
  return field_at(*inner, path.substr(dot + 1));
}

FieldTrials::FieldTrials(const Architecture& architecture, const Json& config,
                         Wishes::Names promised)
    : architecture_(architecture), promised_(std::move(promised)) {
  WishedModel model = wished_model(architecture, ConfigReader(config, kWhere), promised_);
  refusal_ = std::move(model.error.message);
  settings_.push_back(
      {config, facts_text(architecture, ConfigReader(config, kWhere)), std::move(model.text)});
  for (const std::string& path : field_paths(config)) {
    const Json& value = field_at(config, path);
    if (!value.is_bool() || !ignored_reason(path, architecture.name).empty()) continue;
    Json other = with_field(config, path, Json(!value.as_bool()));
    std::string facts = facts_text(architecture, ConfigReader(other, kWhere));
    settings_.push_back({std::move(other), std::move(facts), ""});
  }
}

bool FieldTrials::ignores(std::string_view path) const {
  return !ignored_reason(path, architecture_.name).empty();
}

bool FieldTrials::shows(Setting& setting, const Json& changed) const {
  const ConfigReader reader(changed, kWhere);
  if (facts_text(architecture_, reader) != setting.facts) return true;
  if (setting.whole.empty()) {
    setting.whole =
        wished_model(architecture_, ConfigReader(setting.config, kWhere), promised_).text;
  }
  return wished_model(architecture_, reader, promised_).text != setting.whole;
}

bool FieldTrials::decides(const std::string& path, std::span<const Json> others) {
  return std::ranges::any_of(settings_, [&](Setting& setting) {
    return std::ranges::any_of(others, [&](const Json& other) {
      return shows(setting, with_field(setting.config, path, other));
    });
  });
}

std::vector<std::string> FieldTrials::unread() {
  // A reader of the field refuses one at least of two values of other kinds.
  const Json others[] = {Json("?"), Json(Json::Object{{"?", Json("?")}})};
  std::vector<std::string> out;
  for (const std::string& path : field_paths(settings_[0].config)) {
    const auto within = [&](const std::string& object) { return lies_within(path, object); };
    if (ignores(path) || std::ranges::any_of(out, within)) continue;
    if (!decides(path, others)) out.push_back(path);
  }
  return out;
}

}  // namespace tokamak
