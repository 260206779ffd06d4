// Opens safetensors by path.
#include "base/weight_files.h"
#include "formats/native_files.h"
#include "formats/safetensors.h"
#include "formats/unread.h"

namespace tokamak {

Result<TensorFile> open_safetensors_file(const std::string& path) {
  TOK_TRY(auto source, open_file(path));
  return read_safetensors(std::move(source));
}

namespace {

/// `unread` null: tensors of unknown types are refused.
Result<TensorFile> open_folder(const std::string& path, UnreadTensors* unread) {
  std::string folder = path;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (!is_directory(folder)) {
    return invalid_input("{}: The model folder {}.", folder,
                         file_exists(folder) ? "is a file" : "does not exist");
  }
  const std::string single = fmt::format("{}/{}", folder, kSingleWeights);
  if (file_exists(single)) {
    TOK_TRY(auto source, open_file(single));
    return unread != nullptr ? read_safetensors(std::move(source), *unread)
                             : read_safetensors(std::move(source));
  }

  const std::string index_path = fmt::format("{}/{}", folder, kWeightsIndex);
  if (!file_exists(index_path)) {
    for (const char* pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
      if (!file_exists(fmt::format("{}/{}", folder, pickle))) continue;
      return unsupported(
          "{}: The weights are in {}, a pickle, which may run programs; expected {}. Hugging "
          "Face's "
          "tools convert them.",
          folder, pickle, kSingleWeights);
    }
    return invalid_input("{}: The folder holds neither {} nor {}.", folder, kSingleWeights,
                         kWeightsIndex);
  }
  TOK_TRY(const std::string text, read_text_file(index_path, kMaxWeightsIndexBytes));
  TOK_TRY(const SafetensorsIndex index, parse_safetensors_index(index_path, text));
  std::vector<std::shared_ptr<ByteSource>> sources;
  for (const std::string& shard : index.shards) {
    auto source = open_file(folder + "/" + shard);
    if (!source) {
      return Failure(source.error().within(fmt::format("{} names \"{}\"", index_path, shard)));
    }
    sources.push_back(*std::move(source));
  }
  return unread != nullptr ? read_safetensors_shards(index_path, index, std::move(sources), *unread)
                           : read_safetensors_shards(index_path, index, std::move(sources));
}

}  // namespace

Result<TensorFile> open_safetensors_folder(const std::string& path) {
  return open_folder(path, nullptr);
}

Result<TensorFile> open_safetensors_folder(const std::string& path, UnreadTensors& unread) {
  return open_folder(path, &unread);
}

}  // namespace tokamak
