// Reads GGUF, versions 2 and 3, little end first:
//
//   file     := "GGUF" u32 version, u64 tensors, u64 entries, entry*, tensor*, padding, data
//   entry    := string key, u32 type, value            type: 0..12, GgufType
//   tensor   := string name, u32 n, u64 extent[n] (innermost first), u32 type, u64 offset
//   string   := u64 length, bytes
//   array    := u32 type of the elements, u64 count, elements
//
// Offsets count from the data, which begin at a multiple of "general.alignment" (32 unless said).
// A model may be split into parts, each a whole file: "split.no" and "split.count" say which.
// Reference: ggml-org/ggml, docs/gguf.md; block sizes: gguf_types.h.
//
// Nothing of it is trusted: every length, count, product and offset is compared with the file
// before it is used, and nothing is allocated on a claim. Texts should be UTF-8: keys, names of
// tensors and lists of strings must be; a value that is a single text, such as the name of the
// model, may be anything and is shown with U+FFFD.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/byte_source.h"
#include "formats/tensor_file.h"

namespace tokamak {

enum class GgufType : uint8_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};

/// The entries of a file. Vocabularies are long: arrays stay in the file until they are asked for.
class GgufMetadata {
 public:
  /// Longer arrays stand in values() as a text: "array of 262144 strings".
  static constexpr uint64_t kMaxShownElements = 4096;
  /// Entries and shown elements of a file; one of a byte takes forty in memory.
  static constexpr uint64_t kMaxValues = 1 << 20;

  struct Array {
    std::string key;
    GgufType type = GgufType::kU8;  // of the elements
    uint64_t count = 0;
    uint64_t offset = 0;  // of the first element, from the start of the file
  };

  using Texts = std::vector<std::pair<std::string, std::string>>;  // by key

  GgufMetadata() = default;  // no entries
  /// `broken` has the bytes of texts that are not UTF-8 and are repaired in `values`.
  /// REQUIRES: the arrays lie inside the source, and none holds arrays.
  GgufMetadata(std::shared_ptr<ByteSource> source, Json values, std::vector<Array> arrays,
               Texts broken = {});

  /// An object, in the order of the file. All its texts are UTF-8.
  const Json& values() const { return values_; }

  /// The text `key` as the file has it, UTF-8 or not. REQUIRES: values() has a text there.
  const std::string& text_bytes(std::string_view key) const;

  /// The array `key`, empty when there is none. An error that names the key when its elements are
  /// of another kind, strings that are not UTF-8, or integers beyond the range of the result.
  Result<std::vector<std::string>> strings(std::string_view key) const;
  Result<std::vector<float>> floats(std::string_view key) const;
  Result<std::vector<int32_t>> integers(std::string_view key) const;

  /// The file, for messages.
  const std::string& file_name() const;

 private:
  Result<const Array*> find(std::string_view key, std::string_view expected) const;

  std::shared_ptr<ByteSource> source_;
  Json values_{Json::Object{}};
  std::vector<Array> arrays_;  // sorted by key
  Texts broken_texts_;
};

/// One file. `tensors` have offsets from the start of the file, and names as the file has them.
struct GgufPart {
  std::shared_ptr<ByteSource> source;
  GgufMetadata metadata;
  std::vector<TensorInfo> tensors;
  uint32_t number = 0, count = 1;         // split.no, split.count
  std::optional<uint32_t> total_tensors;  // split.tensors.count
};

/// A model: all parts, with the metadata of the first.
struct GgufFile {
  TensorFile tensors;
  GgufMetadata metadata;
};

/// Errors name the source, the entry or tensor, what was found and what was expected; an element
/// type that is known but not read is kUnsupported.
Result<GgufPart> read_gguf_part(std::shared_ptr<ByteSource> source);

/// `parts` in their order. An error names the part that does not belong.
Result<GgufFile> join_gguf_parts(std::vector<GgufPart> parts);

/// "a/m-00002-of-00003.gguf" for part 1 of 3 of "a/m-00001-of-00003.gguf"; an error when `path` is
/// not named so.
Result<std::string> gguf_part_path(std::string_view path, uint32_t number, uint32_t count);

}  // namespace tokamak
