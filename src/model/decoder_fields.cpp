#include "model/decoder_fields.h"

#include "formats/wishes.h"

namespace tokamak {

uint32_t read_layers(ConfigReader& config, std::string_view name) {
  const uint32_t layers = config.size(name);
  if (layers <= kMaxLayers) return layers;
  config.reject({ErrorCode::kInvalidInput, fmt::format("{} is {}, expected at most {}.",
                                                       config.path(name), layers, kMaxLayers)});
  return 1;
}

bool read_tied(const ConfigReader& whole, ConfigReader& text, bool otherwise) {
  constexpr std::string_view kName = "tie_word_embeddings";
  ConfigReader top = whole;
  const bool tied = top.flag(kName, text.flag(kName, otherwise));
  text.adopt(top.status());
  return tied;
}

Activation read_activation(ConfigReader& config, std::string_view name, std::string otherwise) {
  const std::string found = config.word(name, std::move(otherwise));
  if (found == "silu" || found == "swish") return Activation::kSilu;
  if (found == "gelu_pytorch_tanh" || found == "gelu_new") return Activation::kGeluTanh;
  if (found == "gelu") return Activation::kGeluErf;
  if (found == "relu") return Activation::kRelu;
  if (found == "relu2") return Activation::kReluSquared;
  if (found == "quick_gelu") return Activation::kGeluQuick;
  config.reject({ErrorCode::kUnsupported,
                 fmt::format("{} is \"{}\"; this engine knows silu, gelu, gelu_pytorch_tanh, "
                             "quick_gelu, relu and relu2.",
                             config.path(name), found)});
  return Activation::kSilu;
}

Result<void> expect_gelu_tanh(ConfigReader& config, std::string_view name) {
  const Activation activation = read_activation(config, name, "gelu_pytorch_tanh");
  TOK_TRY(config.status());
  if (activation == Activation::kGeluTanh) return {};
  return unsupported("{} is {}, expected gelu_pytorch_tanh.", config.path(name),
                     activation_name(activation));
}

Result<void> refuse_flag(ConfigReader& config, std::string_view name, std::string_view how) {
  if (!config.flag(name, false)) return {};
  return unsupported("{} is true; this engine runs this architecture {}.", config.path(name), how);
}

float read_cap(ConfigReader& config, std::string_view name) {
  return config.has(name) ? float(config.positive(name)) : 0.0f;
}

Result<void> check_heads(const ConfigReader& config, uint32_t heads, uint32_t kv_heads,
                         uint32_t head_dim) {
  if (heads > 65536) {
    return invalid_input("{} is {}, expected at most 65536.", config.path("num_attention_heads"),
                         heads);
  }
  if (heads % kv_heads != 0) {
    return invalid_input("{} ({}) is not a multiple of num_key_value_heads ({}).",
                         config.path("num_attention_heads"), heads, kv_heads);
  }
  if (head_dim % 2 != 0 || head_dim > 1024) {
    return invalid_input("{} is {}, expected an even number of at most 1024.",
                         config.path("head_dim"), head_dim);
  }
  return {};
}

uint32_t read_head_dim(ConfigReader& config, uint32_t hidden, uint32_t heads) {
  if (config.has("head_dim")) return config.size("head_dim");
  if (hidden % heads != 0) {
    config.reject(
        {ErrorCode::kInvalidInput,
         fmt::format("{} ({}) is not a multiple of num_attention_heads ({}), and head_dim "
                     "is not given.",
                     config.path("hidden_size"), hidden, heads)});
  }
  return hidden / heads;
}

Result<std::vector<bool>> read_full_layers(const ConfigReader& config, uint32_t layers,
                                           uint32_t period, std::string_view other) {
  std::vector<bool> full(layers);
  if (!config.has("layer_types")) {
    for (uint32_t i = 0; i < layers; ++i) full[i] = (i + 1) % period == 0;
    return full;
  }
  ConfigReader reader = config;
  const std::vector<std::string> types = reader.words("layer_types");
  TOK_TRY(reader.status());
  if (types.size() != layers) {
    return invalid_input("{} has {} entries, expected {} (num_hidden_layers).",
                         config.path("layer_types"), types.size(), layers);
  }
  for (uint32_t i = 0; i < layers; ++i) {
    if (types[i] != "full_attention" && types[i] != other) {
      return unsupported("{}: entry {} is \"{}\"; expected full_attention or {}.",
                         config.path("layer_types"), i, types[i], other);
    }
    full[i] = types[i] == "full_attention";
  }
  return full;
}

Result<std::vector<bool>> read_listed_layers(ConfigReader& config, uint32_t layers,
                                             std::string_view other) {
  const bool listed = config.has("full_attn_idxs") && !config.has("layer_types");
  if (!listed) return read_full_layers(config, layers, 1, other);
  const std::vector<uint32_t> indices = config.ids("full_attn_idxs", "layer");
  TOK_TRY(config.status());
  std::vector<bool> full(layers);
  for (const uint32_t index : indices) {
    if (index >= layers) {
      return invalid_input("{} has layer {}, but num_hidden_layers is {}.",
                           config.path("full_attn_idxs"), index, layers);
    }
    full[index] = true;
  }
  return full;
}

uint32_t read_taps(ConfigReader& config, std::string_view name, uint32_t otherwise) {
  const uint32_t taps = config.size(name, otherwise);
  if (taps >= 2 && taps <= 64) return taps;
  config.reject({ErrorCode::kInvalidInput,
                 fmt::format("{} is {}, expected 2 to 64.", config.path(name), taps)});
  return 2;
}

Result<std::vector<uint32_t>> read_optional_windows(ConfigReader& config, uint32_t layers) {
  const bool none = config.mentions("sliding_window") && !config.has("sliding_window");
  const bool sliding = config.flag("use_sliding_window", false) && !none;
  const uint32_t window = sliding ? config.size("sliding_window", 4096) : 0;
  const uint32_t first = config.count("max_window_layers", 28);
  TOK_TRY(config.status());
  std::vector<uint32_t> windows(layers);
  if (!config.has("layer_types")) {
    for (uint32_t i = first; i < layers; ++i) windows[i] = window;
    return windows;
  }
  TOK_TRY(const std::vector<bool> full, read_full_layers(config, layers, 1));
  for (uint32_t i = 0; i < layers; ++i) {
    if (!full[i] && !sliding) {
      return invalid_input("{}: entry {} is \"sliding_attention\", but {}.",
                           config.path("layer_types"), i,
                           none ? "sliding_window is null" : "use_sliding_window is not true");
    }
    windows[i] = full[i] ? 0 : window;
  }
  return windows;
}

uint32_t start_token(ConfigReader& config, uint32_t otherwise, uint32_t vocab) {
  constexpr const char* kName = "decoder_start_token_id";
  const uint32_t start = config.count(kName, otherwise);
  if (start >= vocab) {
    config.reject(
        {ErrorCode::kInvalidInput, fmt::format("{} is {}, but the vocabulary has {} tokens.",
                                               config.path(kName), start, vocab)});
  }
  return start;
}

Result<std::string> find_prefix(const TensorFile& file,
                                std::initializer_list<std::string_view> prefixes,
                                std::string_view tensor, std::string_view what) {
  std::string tried;
  for (const std::string_view prefix : prefixes) {
    const std::string name = std::string(prefix).append(tensor);
    if (offers(file, name)) return std::string(prefix);
    tried += fmt::format("{}\"{}\"", tried.empty() ? "" : ", ", name);
  }
  if (Wishes::current() != nullptr) return std::string(*prefixes.begin());
  return invalid_input("The checkpoint has no {}; looked for {}.", what, tried);
}

}  // namespace tokamak
