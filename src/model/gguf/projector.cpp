// The file of a tower beside that of the text.
#include "model/gguf/projector.h"

#include <algorithm>

#include "model/gguf/import.h"

namespace tokamak {
namespace {

std::string word_of(const GgufFile& file, std::string_view key) {
  ConfigReader reader(file.metadata.values(), file.metadata.file_name());
  return reader.word(key, "");
}

/// The kind of the tower; newer files have one for images and one for sound.
std::string projector_type(const GgufFile& file) {
  std::string type = word_of(file, "clip.vision.projector_type");
  return type.empty() ? word_of(file, "clip.projector_type") : type;
}

Result<const gguf::Tower*> find_tower(const GgufFile& file, const GgufFile& text) {
  const std::string type = projector_type(file), own = word_of(text, "general.architecture");
  const std::string& name = file.metadata.file_name();
  if (type.empty()) {
    return invalid_input("{}: clip.projector_type is missing; expected that of a tower of images.",
                         name);
  }
  std::string known, texts;
  for (const gguf::Tower& tower : gguf::towers()) {
    const bool is_type = tower.type == type;
    if (is_type && tower.text == own) return &tower;
    if (is_type) texts += fmt::format("{}{}", texts.empty() ? "" : ", ", tower.text);
    if (known.find(tower.type) == known.npos) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", tower.type);
    }
  }
  if (texts.empty()) {
    return unsupported("{}: clip.projector_type is \"{}\"; this engine reads {}.", name, type,
                       known);
  }
  return invalid_input(
      "{}: clip.projector_type is \"{}\", which is for a text model of {}, but {} "
      "is one of {}.",
      name, type, texts, text.metadata.file_name(), own);
}

/// The id of the token that stands for rows of images. Files of Gemma 3 may lack it, since it is
/// past the last row of their table; it becomes the next one.
Result<uint32_t> word_id(const gguf::Tower& tower, const GgufFile& text, GgufModel& model) {
  TOK_TRY(const std::vector<std::string> tokens, text.metadata.strings("tokenizer.ggml.tokens"));
  const auto found = std::ranges::find(tokens, tower.word);
  if (found == tokens.end() && (tokens.empty() || !tower.may_lack_word)) {
    return invalid_input("{}: The vocabulary has no token \"{}\", which stands for images.",
                         text.metadata.file_name(), tower.word);
  }
  if (found == tokens.end()) model.image_word = std::string(tower.word);
  return uint32_t(found - tokens.begin());
}

/// Means or deviations of the channels.
void add_channels(const GgufFile& file, const char* name, Json& processor) {
  const Json* const list = file.metadata.values().find(fmt::format("clip.vision.{}", name));
  if (list != nullptr && list->is_array()) processor.set(name, *list);
}

/// M-RoPE's sections, which the text's file has for its positions.
void add_sections(const GgufFile& text, Json& config) {
  const std::string key =
      fmt::format("{}.rope.dimension_sections", word_of(text, "general.architecture"));
  const Json* const sections = text.metadata.values().find(key);
  if (sections == nullptr || !sections->is_array() || sections->as_array().size() < 3) return;
  const auto& all = sections->as_array();
  Json scaling{Json::Object()};
  for (auto& [name, value] : config.as_object()) {
    if (name != "rope_scaling") continue;
    if (value.is_object()) scaling = value;
    if (scaling.find("rope_type") == nullptr) scaling.set("rope_type", "default");
    scaling.set("mrope_section", Json::Array{all[0], all[1], all[2]});
    value = std::move(scaling);
    return;
  }
}

}  // namespace

bool is_gguf_projector(const GgufMetadata& metadata) {
  const Json* const name = metadata.values().find("general.architecture");
  return name != nullptr && name->is_string() && name->as_string() == "clip";
}

Result<void> check_projector(const GgufFile& text, const GgufFile& projector) {
  const std::string& name = projector.metadata.file_name();
  if (!is_gguf_projector(projector.metadata)) {
    return invalid_input(
        "{}: general.architecture is \"{}\", expected \"clip\": the file of a "
        "tower of images (mmproj).",
        name, word_of(projector, "general.architecture"));
  }
  TOK_TRY(const gguf::Tower* const tower, find_tower(projector, text));
  ConfigReader own(projector.metadata.values(), name);
  ConfigReader texts(text.metadata.values(), text.metadata.file_name());
  const std::string width =
      fmt::format("{}.embedding_length", word_of(text, "general.architecture"));
  const uint32_t taken = texts.size(width);
  TOK_TRY(texts.status());
  const TensorInfo* const rows = projector.tensors.find(tower->width_of);
  const bool has_rows = rows != nullptr && !rows->shape.empty();
  const uint64_t made = has_rows ? rows->shape.front() : own.size("clip.vision.projection_dim");
  TOK_TRY(own.status());
  if (made == taken) return {};
  const std::string source = has_rows ? fmt::format("{}: rows of {}", name, tower->width_of)
                                      : own.path("clip.vision.projection_dim");
  return invalid_input("{} is {}, but {} is {}: the tower is that of a model of another size.",
                       source, made, texts.path(width), taken);
}

Result<GgufModel> import_gguf(const GgufFile& file, const GgufFile& projector) {
  TOK_TRY(check_projector(file, projector));
  TOK_TRY(const gguf::Tower* tower, find_tower(projector, file));
  TOK_TRY(GgufModel model, import_gguf(file));
  ConfigReader reader(projector.metadata.values(), projector.metadata.file_name());
  gguf::TowerFields f{projector,           file, reader, {}, {}, std::move(model.config),
                      Json(Json::Object())};
  f.own.set("architectures", Json::Array{tower->name}).set("model_type", tower->model_type);
  tower->more(f);
  const uint32_t heads = f.size("attention.head_count");
  TOK_TRY(reader.status());
  add_sections(file, f.text_config);
  TOK_TRY(const uint32_t id, word_id(*tower, file, model));
  f.own.set(std::string(tower->word_field), id);
  if (const Json* const tied = f.text_config.find("tie_word_embeddings")) {
    f.own.set("tie_word_embeddings", *tied);
  }
  f.own.set("text_config", std::move(f.text_config)).set("vision_config", std::move(f.vision));
  add_channels(projector, "image_mean", f.processor);
  add_channels(projector, "image_std", f.processor);
  model.config = std::move(f.own);
  model.image_processor = std::move(f.processor);
  const auto sources = projector.tensors.sources();
  TOK_TRY(const TensorFile tensors,
          TensorFile::make({sources.begin(), sources.end()},
                           gguf::rename_tower(projector, *tower, heads), {}));
  TOK_TRY(model.tensors, with_tensors(model.tensors, "", tensors));
  return model;
}

}  // namespace tokamak
