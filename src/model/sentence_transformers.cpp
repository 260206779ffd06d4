#include "model/sentence_transformers.h"

#include <algorithm>

namespace tokamak {
namespace {

constexpr const char* kModules = "modules.json";
constexpr const char* kPrompts = "config_sentence_transformers.json";
constexpr const char* kTransformer = "sentence_bert_config.json";

/// Folders of a stranger's model stay inside it.
bool is_plain_name(std::string_view name) {
  constexpr std::string_view kSeparators("/\\\0", 3);
  return name != "." && name != ".." && name.find_first_of(kSeparators) == std::string_view::npos;
}

std::string config_name(const EncoderModule& module) {
  return module.folder + "/config.json";
}

Result<ConfigReader> module_config(const EncoderFiles& files, const EncoderModule& module) {
  const auto found = files.configs.find(module.folder);
  if (found != files.configs.end()) return ConfigReader(found->second, config_name(module));
  return invalid_input("{} names the folder \"{}\", which has no config.json.", kModules,
                       module.folder);
}

/// Older files have a flag per mode, newer ones pooling_mode.
Result<Pooling> read_mode(ConfigReader& config) {
  std::vector<std::string> modes;
  if (config.has("pooling_mode")) {
    const Json& mode = *config.find("pooling_mode");
    modes = mode.is_array() ? config.words("pooling_mode")
                            : std::vector{config.word("pooling_mode", "")};
  } else {
    const auto flag = [&](const char* field, const char* mode, bool otherwise) {
      if (config.flag(field, otherwise)) modes.emplace_back(mode);
    };
    flag("pooling_mode_cls_token", "cls", false);
    flag("pooling_mode_max_tokens", "max", false);
    flag("pooling_mode_mean_tokens", "mean", true);
    flag("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", false);
    flag("pooling_mode_weightedmean_tokens", "weightedmean", false);
    flag("pooling_mode_lasttoken", "lasttoken", false);
  }
  TOK_TRY(config.status());
  if (modes == std::vector<std::string>{"mean"}) return Pooling::kMean;
  if (modes == std::vector<std::string>{"lasttoken"}) return Pooling::kLast;
  if (modes == std::vector<std::string>{"cls"}) return Pooling::kFirst;
  if (modes.empty()) {
    return invalid_input("{} has no pooling, expected mean, lasttoken or cls.", config.where());
  }
  std::string found;
  for (const std::string& mode : modes) found += (found.empty() ? "" : " and ") + mode;
  return unsupported(
      "{}: the pooling is {}; this engine knows mean, lasttoken and cls, one of them.",
      config.where(), found);
}

Result<void> read_pooling(const EncoderFiles& files, const EncoderModule& module, Encoder& out) {
  TOK_TRY(ConfigReader config, module_config(files, module));
  TOK_TRY(config.status());
  TOK_TRY(out.head.pooling, read_mode(config));
  out.width =
      config.size("word_embedding_dimension", config.size("embedding_dimension", out.width));
  const bool whole = config.flag("include_prompt", true);
  TOK_TRY(config.status());
  if (!whole) {
    return unsupported("{} is false; this engine pools the prompt's tokens too.",
                       config.path("include_prompt"));
  }
  return {};
}

Result<void> read_dense(const EncoderFiles& files, const EncoderModule& module, Encoder& out) {
  TOK_TRY(ConfigReader config, module_config(files, module));
  DenseLayer layer{.folder = module.folder};
  layer.inputs = config.size("in_features");
  layer.outputs = config.size("out_features");
  layer.bias = config.flag("bias", true);
  // The reference imports a class by this name; only the class says what it computes.
  std::string activation = config.word("activation_function", "torch.nn.modules.activation.Tanh");
  activation = activation.substr(activation.rfind('.') + 1);
  layer.tanh = activation == "Tanh";
  TOK_TRY(config.status());
  if (!layer.tanh && activation != "Identity") {
    return unsupported("{} is {}; this engine knows Identity and Tanh.",
                       config.path("activation_function"), activation);
  }
  for (const char* name : {"module_input_name", "module_output_name"}) {
    const std::string value = config.word(name, "sentence_embedding");
    TOK_TRY(config.status());
    if (value != "sentence_embedding") {
      return unsupported("{} is \"{}\"; this engine applies Dense to the pooled row.",
                         config.path(name), value);
    }
  }
  const uint32_t before = out.dimensions(out.width);
  if (before != 0 && before != layer.inputs) {
    return invalid_input("{} is {}, but what comes before has {} numbers.",
                         config.path("in_features"), layer.inputs, before);
  }
  out.head.dense.push_back(std::move(layer));
  return {};
}

Result<void> read_prompts(const Json& json, Encoder& out) {
  ConfigReader config(json, kPrompts);
  ConfigReader prompts = config.at("prompts");
  TOK_TRY(config.status());
  TOK_TRY(prompts.status());
  if (const Json* list = config.find("prompts")) {
    for (const auto& [name, prompt] : list->as_object()) {
      out.prompts.emplace_back(name, prompts.word(name, ""));
    }
    TOK_TRY(prompts.status());
  }
  const std::string chosen = config.word("default_prompt_name", "");
  TOK_TRY(config.status());
  if (chosen.empty()) return {};
  if (std::ranges::find(out.prompts, chosen, [](const auto& p) { return p.first; }) ==
      out.prompts.end()) {
    return invalid_input("{} is \"{}\", which is none of its prompts.",
                         config.path("default_prompt_name"), chosen);
  }
  out.default_prompt = chosen;
  return {};
}

Result<void> read_modules(const EncoderFiles& files, Encoder& out) {
  const std::vector<EncoderModule>& modules = files.modules;
  out.normalize = false;
  for (size_t i = 0; i < modules.size(); ++i) {
    const EncoderModule& module = modules[i];
    const auto where = [&] { return fmt::format("{}: entry {}", kModules, i); };
    if (i < 2) {
      const char* expected = i == 0 ? "Transformer" : "Pooling";
      if (module.type != expected) {
        return unsupported("{} is {}; expected {} there.", where(), module.type, expected);
      }
      if (i == 1) TOK_TRY(read_pooling(files, module, out));
    } else if (module.type == "Dense") {
      if (out.normalize) {
        return unsupported("{} is Dense after Normalize; this engine normalizes at the end.",
                           where());
      }
      TOK_TRY(read_dense(files, module, out));
    } else if (module.type == "Normalize") {
      out.normalize = true;
    } else {
      return unsupported("{} is {}; this engine knows Transformer, Pooling, Dense and Normalize.",
                         where(), module.type);
    }
  }
  if (modules.size() < 2) {
    return invalid_input("{} has {} entries, expected Transformer, Pooling and perhaps more.",
                         kModules, modules.size());
  }
  if (!modules[0].folder.empty()) {
    return unsupported("{} has the transformer in \"{}\"; this engine reads it beside {}.",
                       kModules, modules[0].folder, kModules);
  }
  return {};
}

Result<std::vector<EncoderModule>> list_modules(const Json& json) {
  if (!json.is_array()) {
    return invalid_input("{}: found {}, expected a list of modules.", kModules,
                         kind_name(json.kind()));
  }
  std::vector<EncoderModule> modules;
  for (const Json& entry : json.as_array()) {
    ConfigReader reader(entry, fmt::format("{}: entry {}", kModules, modules.size()));
    TOK_TRY(reader.status());
    EncoderModule module{reader.word("type"), reader.word("path", "")};
    TOK_TRY(reader.status());
    if (!module.type.starts_with("sentence_transformers.")) {
      return unsupported("{} is \"{}\"; this engine runs no code of a model's own.",
                         reader.path("type"), module.type);
    }
    module.type = module.type.substr(module.type.rfind('.') + 1);
    if (!is_plain_name(module.folder)) {
      return invalid_input("{} is \"{}\", expected the name of a folder in the model's.",
                           reader.path("path"), module.folder);
    }
    modules.push_back(std::move(module));
  }
  return modules;
}

}  // namespace

Result<std::optional<EncoderFiles>> read_encoder_files(const ReadText& read) {
  TOK_TRY(const std::optional<Json> modules, read_json(read, kModules));
  if (!modules) return std::nullopt;
  EncoderFiles out;
  TOK_TRY(out.modules, list_modules(*modules));
  TOK_TRY(out.prompts, read_json(read, kPrompts));
  TOK_TRY(out.transformer, read_json(read, kTransformer));
  for (const EncoderModule& module : out.modules) {
    if (module.folder.empty() || out.configs.contains(module.folder)) continue;
    TOK_TRY(std::optional<Json> config, read_json(read, config_name(module)));
    if (config) out.configs.emplace(module.folder, *std::move(config));
  }
  return out;
}

Result<Encoder> read_encoder(const EncoderFiles& files) {
  Encoder out;
  TOK_TRY(read_modules(files, out));
  if (files.prompts) TOK_TRY(read_prompts(*files.prompts, out));
  if (files.transformer) {
    ConfigReader config(*files.transformer, kTransformer);
    if (config.has("max_seq_length")) out.max_tokens = config.size("max_seq_length");
    out.lower_case = config.flag("do_lower_case", false);
    TOK_TRY(config.status());
  }
  return out;
}

Result<Pooling> parse_pooling(std::string_view name) {
  if (name == "mean") return Pooling::kMean;
  if (name == "last") return Pooling::kLast;
  if (name == "cls") return Pooling::kFirst;
  return fail(ErrorCode::kUsage, "pooling is \"{}\", expected mean, last or cls.", name);
}

}  // namespace tokamak
