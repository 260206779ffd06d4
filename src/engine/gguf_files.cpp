#include "engine/gguf_files.h"

#include <algorithm>

#include "model/gguf/import.h"

namespace tokamak {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.";

std::string key(std::string_view name) {
  return std::string(kTokens) + std::string(name);
}

std::optional<uint32_t> id(ConfigReader& reader, std::string_view name) {
  if (!reader.has(key(name))) return std::nullopt;
  return reader.count(key(name), 0);
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
  vocab.has_charsmap = reader.has(key("precompiled_charsmap"));
  vocab.bos = id(reader, "bos_token_id");
  vocab.eos = id(reader, "eos_token_id");
  vocab.eot = id(reader, "eot_token_id");
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

/// Tokens that end a turn in the chats of some model. Files name one end, models have more: those
/// of Gemma 3 say <eos> and write <end_of_turn>. References: the generation_config.json of the
/// models; llama.cpp's src/llama-vocab.cpp looks for the same.
constexpr std::string_view kEnds[] = {
    "<end_of_turn>", "<|end_of_text|>", "<|endoftext|>", "<|end|>",
    "<|eom_id|>",    "<|eot_id|>",      "<|im_end|>",
};

Json::Array end_ids(const GgufVocab& vocab, ConfigReader& reader) {
  Json::Array ids;
  const auto add = [&](std::optional<uint32_t> id) {
    if (id && std::ranges::find(ids, Json(*id)) == ids.end()) ids.emplace_back(*id);
  };
  add(vocab.eos);
  add(vocab.eot);
  add(id(reader, "eom_token_id"));
  constexpr int32_t kControl = 3, kUserDefined = 4;
  for (size_t i = 0; i < std::min(vocab.tokens.size(), vocab.token_types.size()); ++i) {
    if (vocab.token_types[i] != kControl && vocab.token_types[i] != kUserDefined) continue;
    if (std::ranges::find(kEnds, vocab.tokens[i]) != std::end(kEnds)) add(uint32_t(i));
  }
  return ids;
}

/// What generation_config.json says for other models.
std::string generation_config(const std::optional<GgufVocab>& vocab, ConfigReader& reader) {
  Json out(Json::Object{});
  if (vocab) {
    Json::Array ids = end_ids(*vocab, reader);
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
  return out.set("do_sample", samples).dump();
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

void read_templates(const Json& values, ModelFiles& files) {
  constexpr std::string_view kTemplate = "tokenizer.chat_template";
  for (const auto& [name, value] : values.as_object()) {
    if (!value.is_string() || !name.starts_with(kTemplate)) continue;
    if (name == kTemplate) {
      files.chat_template = value.as_string();
    } else if (name[kTemplate.size()] == '.') {
      files.more_templates.emplace_back(name.substr(kTemplate.size() + 1), value.as_string());
    }
  }
}

}  // namespace

Result<ModelFiles> gguf_text_files(const GgufFile& file) {
  ModelFiles files;
  files.name = file.metadata.file_name();
  files.origin = "metadata as ";
  ConfigReader reader(file.metadata.values(), files.name);
  auto vocab = read_vocab(file.metadata, reader);
  if (!vocab) return Failure(vocab.error().within(files.name));
  files.generation_config = generation_config(*vocab, reader);
  TOK_TRY(reader.status());
  if (*vocab) files.tokenizer_config = tokenizer_config(**vocab);
  read_templates(file.metadata.values(), files);
  files.vocab = *std::move(vocab);
  return files;
}

Result<ModelFiles> gguf_model_files(const GgufFile& file) {
  TOK_TRY(GgufModel model, import_gguf(file));
  TOK_TRY(ModelFiles files, gguf_text_files(file));
  files.config = std::move(model.config);
  files.tensors = std::move(model.tensors);
  return files;
}

}  // namespace tokamak
