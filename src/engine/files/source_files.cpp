#include "engine/files/source_files.h"

#include "base/weight_files.h"
#include "engine/files/gguf_files.h"
#include "engine/files/template_files.h"
#include "formats/gguf.h"
#include "formats/safetensors.h"
#include "model/gguf/import.h"

namespace tokamak {
namespace {

constexpr uint64_t kMaxTextBytes = uint64_t{256} << 20;

/// "" when there is no such file; as with files of a disk, an empty one must not count as absent.
Result<std::string> text_of(const SourceFiles& files, const std::string& file) {
  const auto found = files.find(file);
  if (found == files.end()) return std::string();
  const ByteSource& source = *found->second;
  if (source.size() == 0) return invalid_input("{}: The file is empty.", file);
  if (source.size() > kMaxTextBytes) {
    return invalid_input("{}: The file has {} bytes, but at most {} are expected.", file,
                         source.size(), kMaxTextBytes);
  }
  std::string text(size_t(source.size()), '\0');
  TOK_TRY(source.read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<std::shared_ptr<ByteSource>> source_of(const SourceFiles& files, const std::string& file) {
  const auto found = files.find(file);
  if (found == files.end()) return invalid_input("The model's file \"{}\" is missing.", file);
  return found->second;
}

Result<TensorFile> read_weights(const SourceFiles& files) {
  const std::string single(kSingleWeights), index_name(kWeightsIndex);
  if (const auto found = files.find(single); found != files.end()) {
    return read_safetensors(found->second);
  }
  TOK_TRY(const std::string text, text_of(files, index_name));
  if (text.empty()) {
    return invalid_input("The model has neither {} nor {}.", kSingleWeights, kWeightsIndex);
  }
  TOK_TRY(const SafetensorsIndex index, parse_safetensors_index(index_name, text));
  std::vector<std::shared_ptr<ByteSource>> sources;
  for (const std::string& shard : index.shards) {
    TOK_TRY(sources.emplace_back(), source_of(files, shard));
  }
  return read_safetensors_shards(index_name, index, std::move(sources));
}

/// Adds the weights of those modules that have some.
Result<void> add_module_weights(const SourceFiles& files, const EncoderFiles& encoder,
                                TensorFile& tensors) {
  for (const EncoderModule& module : encoder.modules) {
    if (module.type != "Dense" || !encoder.configs.contains(module.folder)) continue;
    TOK_TRY(auto source, source_of(files, fmt::format("{}/{}", module.folder, kSingleWeights)));
    TOK_TRY(const TensorFile weights, read_safetensors(std::move(source)));
    TOK_TRY(tensors, with_tensors(tensors, module.folder + "/", weights));
  }
  return {};
}

bool is_gguf(const std::string& name) {
  return name.ends_with(".gguf");
}

Result<ModelFiles> read_gguf(const SourceFiles& files) {
  std::vector<GgufPart> parts, towers;
  for (const auto& [name, source] : files) {
    if (!is_gguf(name)) continue;
    TOK_TRY(GgufPart part, read_gguf_part(source));
    (is_gguf_projector(part.metadata) ? towers : parts).push_back(std::move(part));
  }
  if (parts.empty()) {
    return invalid_input(
        "The model's files are towers of images only; that of its text is missing.");
  }
  TOK_TRY(const GgufFile whole, join_gguf_parts(std::move(parts)));
  if (towers.empty()) return gguf_model_files(whole);
  TOK_TRY(const GgufFile tower, join_gguf_parts(std::move(towers)));
  return gguf_model_files(whole, &tower);
}

}  // namespace

Result<ModelFiles> read_model_files(std::string name, const SourceFiles& files) {
  for (const auto& [file, source] : files) {
    if (is_gguf(file)) return read_gguf(files);
  }
  ModelFiles model;
  model.name = std::move(name);
  TOK_TRY(model.tokenizer, text_of(files, "tokenizer.json"));
  TOK_TRY(model.tokenizer_config, text_of(files, "tokenizer_config.json"));
  TOK_TRY(model.special_tokens_map, text_of(files, "special_tokens_map.json"));
  TOK_TRY(model.added_tokens, text_of(files, "added_tokens.json"));
  TOK_TRY(model.chat_template,
          read_chat_template([&](const std::string& file) { return text_of(files, file); }));
  if (!files.contains("config.json")) return invalid_input("{} has no config.json.", model.name);
  TOK_TRY(model.description,
          read_description([&](const std::string& file) { return text_of(files, file); }));
  TOK_TRY(model.tensors, read_weights(files));
  if (model.description.encoder) {
    TOK_TRY(add_module_weights(files, *model.description.encoder, model.tensors));
  }
  return model;
}

}  // namespace tokamak
