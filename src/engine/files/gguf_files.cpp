#include "engine/files/gguf_files.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "model/gguf/import.h"
#include "text/tokenizer/gguf_roles.h"

namespace tokamak {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.";

std::string key(std::string_view name) {
  return std::string(kTokens) + std::string(name);
}

/// The ids under `name`, of which some files have a list, or under its plural, where others have
/// it. -1, stored with a sign or without one, says that there is none.
std::vector<uint32_t> ids(ConfigReader& reader, std::string_view name) {
  std::vector<uint32_t> out;
  for (const std::string& one : {key(name), key(name) + "s"}) {
    const Json* value = reader.find(one);
    if (value == nullptr) continue;
    const std::span<const Json> list =
        value->is_array() ? std::span<const Json>(value->as_array()) : std::span(value, 1);
    for (const Json& item : list) {
      const double id = item.is_number() ? item.as_number() : -2.0;
      if (id == -1.0 || id == double(UINT32_MAX)) continue;
      if (id < 0 || id > double(UINT32_MAX) || id != std::floor(id)) {
        reader.reject({ErrorCode::kInvalidInput, fmt::format("{} is {}, expected a token id.",
                                                             reader.path(one), item.dump())});
        return {};
      }
      if (std::ranges::find(out, uint32_t(id)) == out.end()) out.push_back(uint32_t(id));
    }
  }
  return out;
}

std::optional<uint32_t> id(ConfigReader& reader, std::string_view name) {
  const std::vector<uint32_t> all = ids(reader, name);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::optional<bool> flag(ConfigReader& reader, std::string_view name) {
  if (!reader.has(key(name))) return std::nullopt;
  return reader.flag(key(name), false);
}

/// Nothing when the file has no vocabulary.
Result<std::optional<GgufVocab>> read_vocab(const GgufMetadata& metadata, ConfigReader& reader) {
  if (!reader.has(key("model"))) return std::nullopt;
  GgufVocab vocab;
  vocab.model = reader.word(key("model"));
  vocab.pre = reader.word(key("pre"), "");
  vocab.architecture = reader.word("general.architecture", "");
  vocab.name = reader.word("general.name", "");
  TOK_TRY(vocab.tokens, metadata.strings(key("tokens")));
  TOK_TRY(vocab.scores, metadata.floats(key("scores")));
  TOK_TRY(vocab.token_types, metadata.integers(key("token_type")));
  TOK_TRY(vocab.merges, metadata.strings(key("merges")));
  TOK_TRY(const std::vector<int32_t> charsmap, metadata.integers(key("precompiled_charsmap")));
  for (const int32_t byte : charsmap) vocab.charsmap += char(byte);
  vocab.bos = id(reader, "bos_token_id");
  vocab.eos = id(reader, "eos_token_id");
  vocab.eot = id(reader, "eot_token_id");
  vocab.eom = id(reader, "eom_token_id");
  for (const char* name : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    std::ranges::copy(ids(reader, name), std::back_inserter(vocab.more_ends));
  }
  vocab.unk = id(reader, "unknown_token_id");
  vocab.sep = id(reader, "seperator_token_id");  // as the format spells it
  vocab.pad = id(reader, "padding_token_id");
  vocab.mask = id(reader, "mask_token_id");
  vocab.add_bos = flag(reader, "add_bos_token");
  vocab.add_eos = flag(reader, "add_eos_token");
  vocab.add_sep = flag(reader, "add_sep_token");
  vocab.add_space_prefix = flag(reader, "add_space_prefix");
  vocab.remove_extra_spaces = flag(reader, "remove_extra_whitespaces");
  vocab.lowercase = flag(reader, "normalizer.lowercase");
  vocab.strip_accents = flag(reader, "normalizer.strip_accents");
  return vocab;
}

/// The fields that generation_config.json has for other models.
Json generation_config(const std::optional<GgufVocab>& vocab, ConfigReader& reader) {
  Json out(Json::Object{});
  if (vocab) {
    Json::Array ids;
    for (const uint32_t id : gguf_end_ids(*vocab)) ids.emplace_back(id);
    if (!ids.empty()) out.set("eos_token_id", std::move(ids));
  }
  constexpr std::pair<const char*, const char*> kSampling[] = {
      {"general.sampling.temp", "temperature"},
      {"general.sampling.top_k", "top_k"},
      {"general.sampling.top_p", "top_p"},
      {"general.sampling.min_p", "min_p"},
      {"general.sampling.penalty_repeat", "repetition_penalty"},
  };
  for (const auto& [from, to] : kSampling) {
    const Json* value = reader.find(from);
    if (value == nullptr) continue;
    // 0 or less says there: all tokens.
    if (std::string_view(to) == "top_k" && value->is_integer() && value->as_integer() <= 0)
      continue;
    out.set(to, *value);
  }
  const Json* temperature = out.find("temperature");
  const bool samples = temperature != nullptr && *temperature != Json(0.0);
  out.set("do_sample", samples);
  return out;
}

/// The special tokens that chat templates print, as tokenizer_config.json has them.
std::string tokenizer_config(const GgufVocab& vocab) {
  Json out(Json::Object{});
  const auto add = [&](const char* role, std::optional<uint32_t> id) {
    if (id && *id < vocab.tokens.size()) out.set(role, vocab.tokens[*id]);
  };
  add("bos_token", vocab.bos);
  add("eos_token", vocab.eos);
  add("unk_token", vocab.unk);
  add("pad_token", vocab.pad);
  return out.dump();
}

/// Stored by number; -1 and 0 say nothing.
std::string pooling(ConfigReader& reader) {
  const std::string name = reader.word("general.architecture", "") + ".pooling_type";
  const Json* value = reader.find(name);
  if (value == nullptr || *value == Json(-1) || *value == Json(UINT32_MAX)) return "";
  constexpr std::string_view kNames[] = {"", "mean", "cls", "last", "rank"};
  const uint32_t number = reader.count(name, 0);
  if (number < std::size(kNames)) return std::string(kNames[number]);
  reader.reject(
      {ErrorCode::kUnsupported,
       fmt::format("{} is {}; this engine knows 0 (none), 1 (mean), 2 (first token) and 3 "
                   "(last token).",
                   reader.path(name), number)});
  return "";
}

/// Reads bytes: who uses a template refuses any that is not UTF-8, as with a template in a folder.
void read_templates(const GgufMetadata& metadata, ModelFiles& files) {
  constexpr std::string_view kTemplate = "tokenizer.chat_template";
  for (const auto& [name, value] : metadata.values().as_object()) {
    if (!value.is_string() || !name.starts_with(kTemplate)) continue;
    const std::string& text = metadata.text_bytes(name);
    if (name == kTemplate) {
      files.chat_template = text;
    } else if (name[kTemplate.size()] == '.') {
      files.more_templates.emplace_back(name.substr(kTemplate.size() + 1), text);
    }
  }
}

/// EmbeddingGemma's matrices after the pooling, as a folder's modules.json has them; nothing where
/// the file has none.
std::optional<EncoderFiles> dense_modules(const TensorFile& tensors, const std::string& pooling) {
  const Json mode = Json::Object{{"pooling_mode", pooling == "last" ? "lasttoken" : pooling}};
  EncoderFiles files{.modules = {{"Transformer", ""}, {"Pooling", "1_Pooling"}},
                     .prompts = {},
                     .transformer = {},
                     .configs = {{"1_Pooling", mode}}};
  for (const char* folder : {"2_Dense", "3_Dense"}) {
    const TensorInfo* const matrix = tensors.find(fmt::format("{}/linear.weight", folder));
    if (matrix == nullptr || matrix->shape.size() != 2) continue;
    files.modules.push_back({"Dense", folder});
    files.configs[folder] = Json::Object{{"in_features", matrix->shape[1]},
                                         {"out_features", matrix->shape[0]},
                                         {"bias", false},
                                         {"activation_function", "Identity"}};
  }
  if (files.configs.size() == 1) return std::nullopt;
  files.modules.push_back({"Normalize", ""});
  return files;
}

/// Adds a token after the last one.
void add_control_token(const std::string& text, GgufVocab& vocab) {
  constexpr int32_t kControl = 3;  // GGUF's kind of tokens that are no text
  vocab.tokens.push_back(text);
  if (!vocab.scores.empty()) vocab.scores.push_back(0);
  if (!vocab.token_types.empty()) vocab.token_types.push_back(kControl);
}

}  // namespace

Result<ModelFiles> gguf_text_files(const GgufFile& file) {
  ModelFiles files;
  files.name = file.metadata.file_name();
  files.description.origin = "metadata as ";
  ConfigReader reader(file.metadata.values(), files.name);
  auto vocab = read_vocab(file.metadata, reader);
  if (!vocab) return Failure(vocab.error().within(files.name));
  if (*vocab) files.notices = settle_roles(**vocab);
  files.description.pooling = pooling(reader);
  files.description.generation_config = generation_config(*vocab, reader);
  TOK_TRY(reader.status());
  if (*vocab) files.tokenizer_config = tokenizer_config(**vocab);
  read_templates(file.metadata, files);
  files.vocab = *std::move(vocab);
  return files;
}

Result<ModelFiles> gguf_model_files(const GgufFile& file, const GgufFile* projector) {
  TOK_TRY(GgufModel model,
          projector != nullptr ? import_gguf(file, *projector) : import_gguf(file));
  TOK_TRY(ModelFiles files, gguf_text_files(file));
  if (files.vocab && !model.image_word.empty()) add_control_token(model.image_word, *files.vocab);
  files.description.image_processor = std::move(model.image_processor);
  files.description.config = std::move(model.config);
  files.tensors = std::move(model.tensors);
  files.description.encoder = dense_modules(files.tensors, files.description.pooling);
  return files;
}

}  // namespace tokamak
