#include "engine/files/encoder_weights.h"

#include "formats/native_files.h"
#include "formats/torch_file.h"

namespace tokamak {
namespace {

constexpr std::string_view kLayer = "sparse_linear.";

Result<TensorFile> read_torch(const std::string& path) {
  TOK_TRY(std::shared_ptr<ByteSource> source, open_file(path));
  const ArchivedFile whole = {.name = path, .offset = 0, .bytes = source->size()};
  auto read = read_torch_file(std::move(source), whole);
  if (read || read.error().message.starts_with(path)) return read;
  return Failure(read.error().within(path));
}

}  // namespace

Result<void> add_module_weights(const std::string& folder, const EncoderFiles& encoder,
                                TensorFile& tensors) {
  for (const EncoderModule& module : encoder.modules) {
    if (module.type != "Dense" || !encoder.configs.contains(module.folder)) continue;
    TOK_TRY(const TensorFile weights,
            open_safetensors_file(folder + "/" + module.folder + "/model.safetensors"));
    TOK_TRY(tensors, with_tensors(tensors, module.folder + "/", weights));
  }
  return {};
}

Result<void> add_sparse_linear(const std::string& folder, TensorFile& tensors) {
  const std::string weight = std::string(kLayer) + "weight";
  if (tensors.find(weight) != nullptr) return {};
  const std::string stem = folder + "/sparse_linear";
  TensorFile layer;
  if (file_exists(stem + ".safetensors")) {
    TOK_TRY(layer, open_safetensors_file(stem + ".safetensors"));
  } else if (file_exists(stem + ".pt")) {
    TOK_TRY(layer, read_torch(stem + ".pt"));
  } else {
    return {};
  }
  const bool is_named = layer.find(weight) != nullptr;
  TOK_TRY(tensors, with_tensors(tensors, is_named ? "" : kLayer, layer));
  return {};
}

}  // namespace tokamak
