// Any bytes as a GGUF file: an error, or tensors inside the file and metadata that can be read.
#include "formats/gguf.h"

#include <cstdint>
#include <utility>

#include "base/check.h"
#include "model/gguf/import.h"

using namespace tokamak;

namespace {

void check_tensors(const TensorFile& file, size_t size) {
  for (const TensorInfo& tensor : file.tensors()) {
    TOK_CHECK(file.find(tensor.name) == &tensor);
    const auto bytes = file.data(tensor);
    TOK_CHECK(bytes && bytes->size() == tensor.bytes);
    TOK_CHECK(tensor.offset <= size && tensor.bytes <= size - tensor.offset);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(input);
  auto part = read_gguf_part(memory_source("fuzz-00001-of-00002.gguf", {begin, begin + size}));
  if (!part) return 0;
  (void)gguf_part_path(part->source->name(), part->number, part->count);
  std::vector<GgufPart> parts;
  parts.push_back(*std::move(part));
  const auto file = join_gguf_parts(std::move(parts));
  if (!file) return 0;
  check_tensors(file->tensors, size);
  for (const auto& [key, value] : file->metadata.values().as_object()) {
    (void)file->metadata.strings(key);
    (void)file->metadata.floats(key);
    (void)file->metadata.integers(key);
  }
  if (const auto model = import_gguf(*file)) {
    TOK_CHECK(Json::parse(model->config.dump()));
    check_tensors(model->tensors, size);
  }
  return 0;
}
