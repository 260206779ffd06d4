// For tests: a source that gives out pieces of another one, never the other's own memory.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "formats/piecewise_source.h"
#include "formats/tensor_file.h"

namespace tokamak {

class CopiedSource final : public PiecewiseSource {
 public:
  explicit CopiedSource(std::shared_ptr<ByteSource> source)
      : PiecewiseSource(source->name(), source->size()), source_(std::move(source)) {}

 private:
  Result<void> fetch(uint64_t offset, std::span<std::byte> out) const override {
    return source_->read(offset, out);
  }

  std::shared_ptr<ByteSource> source_;
};

/// The same tensors, read in pieces.
inline TensorFile in_pieces(const TensorFile& file) {
  std::vector<std::shared_ptr<ByteSource>> sources;
  for (const auto& source : file.sources()) {
    sources.push_back(std::make_shared<CopiedSource>(source));
  }
  return *TensorFile::make(std::move(sources), {file.tensors().begin(), file.tensors().end()},
                           file.metadata());
}

}  // namespace tokamak
