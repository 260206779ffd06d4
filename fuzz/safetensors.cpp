// Any bytes as a safetensors file and as an index: an error or tensors inside the file, never more.
#include "formats/safetensors.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"

using namespace tokamak;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(input);
  const auto source = memory_source("fuzz", {begin, begin + size});
  if (auto file = read_safetensors(source)) {
    uint64_t total = 0;
    for (const TensorInfo& tensor : file->tensors()) {
      TOK_CHECK(file->find(tensor.name) == &tensor);
      const auto bytes = file->data(tensor);
      TOK_CHECK(bytes && bytes->size() == tensor.bytes);
      if (!bytes->empty()) {
        TOK_CHECK((*bytes)[0] == begin[tensor.offset]);
        TOK_CHECK((*bytes)[bytes->size() - 1] == begin[tensor.offset + tensor.bytes - 1]);
      }
      total += tensor.bytes;
    }
    TOK_CHECK(total <= size);
  }
  const std::string_view text(reinterpret_cast<const char*>(input), size);
  if (auto index = parse_safetensors_index("fuzz", text)) {
    for (const auto& [name, shard] : index->tensors) TOK_CHECK(shard < index->shards.size());
    for (const std::string& shard : index->shards) TOK_CHECK(shard.find('/') == shard.npos);
    std::vector<std::shared_ptr<ByteSource>> sources(index->shards.size(), source);
    (void)read_safetensors_shards("fuzz", *index, std::move(sources));
  }
  return 0;
}
