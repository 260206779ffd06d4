// Opens safetensors by path.
#include "formats/native_files.h"
#include "formats/safetensors.h"

namespace tokamak {
namespace {

// The largest known index has some 200,000 tensors of about 100 bytes each.
constexpr uint64_t kMaxIndexBytes = 64'000'000;

}  // namespace

Result<TensorFile> open_safetensors_file(const std::string& path) {
  TOK_TRY(auto source, open_file(path));
  return read_safetensors(std::move(source));
}

Result<TensorFile> open_safetensors_folder(const std::string& path) {
  std::string folder = path;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (!is_directory(folder)) {
    return invalid_input("{}: The model folder {}.", folder,
                         file_exists(folder) ? "is a file" : "does not exist");
  }
  const std::string single = folder + "/model.safetensors";
  if (file_exists(single)) return open_safetensors_file(single);

  const std::string index_path = single + ".index.json";
  if (!file_exists(index_path)) {
    return invalid_input(
        "{}: The folder holds neither model.safetensors nor model.safetensors.index.json.", folder);
  }
  TOK_TRY(const std::string text, read_text_file(index_path, kMaxIndexBytes));
  TOK_TRY(const SafetensorsIndex index, parse_safetensors_index(index_path, text));
  std::vector<std::shared_ptr<ByteSource>> sources;
  for (const std::string& shard : index.shards) {
    auto source = open_file(folder + "/" + shard);
    if (!source) {
      return Failure(source.error().within(fmt::format("{} names \"{}\"", index_path, shard)));
    }
    sources.push_back(*std::move(source));
  }
  return read_safetensors_shards(index_path, index, std::move(sources));
}

}  // namespace tokamak
