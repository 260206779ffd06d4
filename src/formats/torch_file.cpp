#include "formats/torch_file.h"

#include <algorithm>

#include "formats/printable.h"
#include "formats/torch_pickle.h"

namespace tokamak {
namespace {

uint64_t packed_bytes(const PickledTensor& tensor) {
  return tensor.elements * dtype_bytes(tensor.dtype);
}

}  // namespace

Result<TensorFile> read_torch_file(std::shared_ptr<ByteSource> source,
                                   const ArchivedFile& weights) {
  TOK_TRY(std::vector<ArchivedFile> files, list_zip(*source, weights));
  constexpr std::string_view kPickle = "/data.pkl";
  const auto pickle = std::ranges::find_if(
      files, [&](const ArchivedFile& file) { return file.name.ends_with(kPickle); });
  if (pickle == files.end()) {
    return invalid_input("\"{}\" has no data.pkl: torch.save has not written it.", weights.name);
  }
  const std::string folder = pickle->name.substr(0, pickle->name.size() - kPickle.size());
  if (pickle->bytes > kMaxPickleBytes) {
    return invalid_input("\"{}\" has {} bytes; at most {} are allowed.", printable(pickle->name),
                         pickle->bytes, kMaxPickleBytes);
  }
  TOK_TRY(const FileBytes bytes, source->view(pickle->offset, pickle->bytes));
  TOK_TRY(const std::vector<PickledTensor> pickled,
          read_torch_pickle({bytes.data(), bytes.size()}));
  std::ranges::sort(files, {}, &ArchivedFile::name);
  const auto find = [&](const std::string& name) -> const ArchivedFile* {
    const auto found = std::ranges::lower_bound(files, name, {}, &ArchivedFile::name);
    return found != files.end() && found->name == name ? &*found : nullptr;
  };
  if (const ArchivedFile* order = find(folder + "/byteorder")) {
    TOK_TRY(const FileBytes text, source->view(order->offset, order->bytes));
    if (std::string_view(reinterpret_cast<const char*>(text.data()), text.size()) != "little") {
      return unsupported("Its numbers do not have the little end first.");
    }
  }
  std::vector<TensorInfo> tensors;
  for (const PickledTensor& one : pickled) {
    const ArchivedFile* const file = find(folder + "/data/" + one.storage);
    const uint64_t each = dtype_bytes(one.dtype);
    if (file == nullptr || file->bytes / each != one.storage_size || file->bytes % each != 0) {
      return invalid_input(
          "Tensor \"{}\": its storage \"{}\" has {} bytes, expected {} elements of {}.",
          printable(one.name), printable(one.storage), file == nullptr ? 0 : file->bytes,
          one.storage_size, dtype_name(one.dtype));
    }
    if (one.name.empty() || has_control_character(one.name)) {
      return invalid_input("The tensor name \"{}\" is empty or contains a control character.",
                           printable(one.name));
    }
    tensors.push_back({.name = one.name,
                       .dtype = one.dtype,
                       .shape = one.shape,
                       .offset = file->offset + one.first * each,
                       .bytes = packed_bytes(one)});
  }
  return TensorFile::make({std::move(source)}, std::move(tensors), Json(Json::Object()));
}

}  // namespace tokamak
