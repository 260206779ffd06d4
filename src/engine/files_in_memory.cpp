#include "engine/files_in_memory.h"

#include "base/weight_files.h"
#include "engine/gguf_files.h"
#include "formats/gguf.h"
#include "formats/safetensors.h"

namespace tokamak {
namespace {

/// "" when there is no such file; as with files of a disk, an empty one must not count as absent.
Result<std::string> text_of(const FilesInMemory& files, const std::string& file) {
  const auto found = files.find(file);
  if (found == files.end()) return std::string();
  const std::vector<std::byte>& bytes = found->second;
  if (bytes.empty()) return invalid_input("{}: The file is empty.", file);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::shared_ptr<ByteSource>> take(FilesInMemory& files, const std::string& file) {
  const auto found = files.find(file);
  if (found == files.end()) return invalid_input("The model's file \"{}\" is missing.", file);
  return memory_source(file, std::move(found->second));
}

Result<TensorFile> take_weights(FilesInMemory& files) {
  const std::string single(kSingleWeights), index_name(kWeightsIndex);
  if (files.contains(single)) {
    TOK_TRY(auto source, take(files, single));
    return read_safetensors(std::move(source));
  }
  TOK_TRY(const std::string text, text_of(files, index_name));
  if (text.empty()) {
    return invalid_input("The model has neither {} nor {}.", kSingleWeights, kWeightsIndex);
  }
  TOK_TRY(const SafetensorsIndex index, parse_safetensors_index(index_name, text));
  std::vector<std::shared_ptr<ByteSource>> sources;
  for (const std::string& shard : index.shards) {
    TOK_TRY(sources.emplace_back(), take(files, shard));
  }
  return read_safetensors_shards(index_name, index, std::move(sources));
}

Result<ModelFiles> read_gguf(FilesInMemory& files, const std::string& file) {
  TOK_TRY(auto source, take(files, file));
  std::vector<GgufPart> parts;
  TOK_TRY(parts.emplace_back(), read_gguf_part(std::move(source)));
  TOK_TRY(const GgufFile whole, join_gguf_parts(std::move(parts)));
  return gguf_model_files(whole);
}

}  // namespace

Result<ModelFiles> read_model_files(std::string name, FilesInMemory files) {
  if (files.size() == 1 && files.begin()->first.ends_with(".gguf")) {
    const std::string file = files.begin()->first;
    return read_gguf(files, file);
  }
  ModelFiles model;
  model.name = std::move(name);
  TOK_TRY(model.tokenizer, text_of(files, "tokenizer.json"));
  TOK_TRY(model.tokenizer_config, text_of(files, "tokenizer_config.json"));
  TOK_TRY(model.special_tokens_map, text_of(files, "special_tokens_map.json"));
  TOK_TRY(model.added_tokens, text_of(files, "added_tokens.json"));
  TOK_TRY(model.chat_template, text_of(files, "chat_template.jinja"));
  if (!files.contains("config.json")) return invalid_input("{} has no config.json.", model.name);
  TOK_TRY(model.description,
          read_description([&](const std::string& file) { return text_of(files, file); }));
  if (model.description.encoder) {
    return unsupported("{}: embedding models with modules.json are not read from memory.",
                       model.name);
  }
  TOK_TRY(model.tensors, take_weights(files));
  return model;
}

}  // namespace tokamak
