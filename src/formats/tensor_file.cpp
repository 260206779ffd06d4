#include "formats/tensor_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tokamak {

uint64_t TensorInfo::elements() const {
  uint64_t count = 1;
  for (const uint64_t size : shape) count *= size;
  return count;
}

std::string describe(const TensorInfo& tensor) {
  return fmt::format("{}[{}]", dtype_name(tensor.dtype), fmt::join(tensor.shape, ", "));
}

Result<TensorFile> TensorFile::make(std::vector<std::shared_ptr<ByteSource>> sources,
                                    std::vector<TensorInfo> tensors, Json metadata) {
  TensorFile file;
  file.sources_ = std::move(sources);
  file.tensors_ = std::move(tensors);
  file.metadata_ = std::move(metadata);
  std::ranges::sort(file.tensors_, {}, &TensorInfo::name);
  for (size_t i = 0; i < file.tensors_.size(); ++i) {
    const TensorInfo& tensor = file.tensors_[i];
    TOK_CHECK(tensor.shard < file.sources_.size());
    const uint64_t size = file.sources_[tensor.shard]->size();
    TOK_CHECK(tensor.offset <= size && tensor.bytes <= size - tensor.offset);
    if (i > 0 && file.tensors_[i - 1].name == tensor.name) {
      return invalid_input("{}: Tensor \"{}\" occurs twice.", file.file_name(tensor), tensor.name);
    }
  }
  return file;
}

const TensorInfo* TensorFile::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      tensors_, name, {}, [](const TensorInfo& tensor) { return std::string_view(tensor.name); });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

Result<FileBytes> TensorFile::data(const TensorInfo& tensor) const {
  TOK_CHECK(tensor.shard < sources_.size());
  return sources_[tensor.shard]->view(tensor.offset, tensor.bytes);
}

Result<TensorBytes> TensorFile::pieces(const TensorInfo& tensor) const {
  TOK_CHECK(tensor.shard < sources_.size());
  TensorBytes bytes;
  const ByteSource& source = *sources_[tensor.shard];
  if (source.is_in_memory()) {
    TOK_TRY(bytes.whole_, data(tensor));  // once, and not each time, it is asked what has changed
  } else {
    bytes.source_ = &source;
    bytes.begin_ = tensor.offset;
  }
  return bytes;
}

const std::string& TensorFile::file_name(const TensorInfo& tensor) const {
  TOK_CHECK(tensor.shard < sources_.size());
  return sources_[tensor.shard]->name();
}

Result<TensorFile> with_tensors(const TensorFile& file, std::string_view prefix,
                                const TensorFile& more) {
  std::vector<std::shared_ptr<ByteSource>> sources(file.sources().begin(), file.sources().end());
  std::vector<TensorInfo> tensors(file.tensors().begin(), file.tensors().end());
  for (TensorInfo tensor : more.tensors()) {
    tensor.name.insert(0, prefix);
    tensor.shard += uint32_t(sources.size());
    tensors.push_back(std::move(tensor));
  }
  sources.insert(sources.end(), more.sources().begin(), more.sources().end());
  return TensorFile::make(std::move(sources), std::move(tensors), file.metadata());
}

}  // namespace tokamak
