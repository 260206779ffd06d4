// TensorFile: what a checkpoint holds, whatever format and however many files it came from:
// name -> element type, shape and byte range, every range checked against its file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/json.h"
#include "base/result.h"
#include "formats/byte_source.h"

namespace tokamak {

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;  // outermost first; empty for a single number
  uint32_t shard = 0;           // which of the files
  uint64_t offset = 0;          // from the start of that file
  uint64_t bytes = 0;           // packed types: in the blocks of the file's format
  uint32_t rope_heads = 0;      // not 0: rows lie as llama.cpp turns them, see WeightPart
  uint32_t turned = 0;          // not 0: that number of rows of each head, the last ones
  bool raised = false;          // a norm whose file holds 1 + w where others hold w
  bool transposed = false;      // a matrix of floats, [in, out]

  /// The product of the shape.
  uint64_t elements() const;
};

/// "bf16[512, 64]", for messages and tables.
std::string describe(const TensorInfo& tensor);

/// The bytes of a tensor, some at a time.
class TensorBytes {
 public:
  TensorBytes() = default;  // no bytes

  /// REQUIRES: the range lies inside the tensor. Errors: those of reading.
  Result<FileBytes> view(uint64_t offset, uint64_t length) const {
    if (source_ == nullptr) return whole_.part(size_t(offset), size_t(length));
    return source_->view(begin_ + offset, length);
  }

 private:
  friend class TensorFile;
  FileBytes whole_;                     // of a source in memory
  const ByteSource* source_ = nullptr;  // another
  uint64_t begin_ = 0;                  // of the tensor in it
};

class TensorFile {
 public:
  TensorFile() = default;  // no tensors

  /// `metadata` is an object: names and values as the format carries them.
  /// An error names a tensor that occurs twice. REQUIRES: every range lies inside its source.
  static Result<TensorFile> make(std::vector<std::shared_ptr<ByteSource>> sources,
                                 std::vector<TensorInfo> tensors, Json metadata);

  /// Null when there is no such tensor.
  const TensorInfo* find(std::string_view name) const;

  /// Sorted by name.
  std::span<const TensorInfo> tensors() const { return tensors_; }

  /// The tensor's bytes, little end first, as ByteSource::view gives them.
  /// The address has no particular alignment: copy elements out, never cast the pointer.
  Result<FileBytes> data(const TensorInfo& tensor) const;

  /// The same for those who take some of them at a time; for as long as this file lives.
  Result<TensorBytes> pieces(const TensorInfo& tensor) const;

  /// The file that holds the tensor, for messages.
  const std::string& file_name(const TensorInfo& tensor) const;

  const Json& metadata() const { return metadata_; }
  std::span<const std::shared_ptr<ByteSource>> sources() const { return sources_; }

 private:
  std::vector<std::shared_ptr<ByteSource>> sources_;
  std::vector<TensorInfo> tensors_;
  Json metadata_;
};

/// The tensors of both, those of `more` with `prefix` before their names. Metadata are `file`'s.
Result<TensorFile> with_tensors(const TensorFile& file, std::string_view prefix,
                                const TensorFile& more);

}  // namespace tokamak
