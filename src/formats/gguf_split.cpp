// Parts of one model.
#include <utility>

#include "formats/gguf.h"

namespace tokamak {

Result<GgufFile> join_gguf_parts(std::vector<GgufPart> parts) {
  if (parts.empty()) return invalid_input("A GGUF model has at least one part.");
  const uint32_t count = parts[0].count;
  const std::string first = parts[0].source->name();
  std::vector<std::shared_ptr<ByteSource>> sources;
  std::vector<TensorInfo> tensors;
  for (uint32_t i = 0; i < parts.size(); ++i) {
    GgufPart& part = parts[i];
    if (part.number != i || part.count != count || count != parts.size()) {
      return invalid_input("{}: The file says it is part {} of {}, expected part {} of {}.",
                           part.source->name(), part.number + 1, part.count, i + 1, parts.size());
    }
    sources.push_back(part.source);
    for (TensorInfo& tensor : part.tensors) {
      tensor.shard = i;
      tensors.push_back(std::move(tensor));
    }
  }
  const auto total = parts[0].total_tensors;
  if (count > 1 && total && *total != tensors.size()) {
    return invalid_input("{}: split.tensors.count is {}, but the {} parts have {} tensors.", first,
                         *total, count, tensors.size());
  }
  Json values = parts[0].metadata.values();
  TOK_TRY(TensorFile file,
          TensorFile::make(std::move(sources), std::move(tensors), std::move(values)));
  return GgufFile{std::move(file), std::move(parts[0].metadata)};
}

Result<std::string> gguf_part_path(std::string_view path, uint32_t number, uint32_t count) {
  // "-00001-of-00003.gguf"
  constexpr size_t kTail = 20;
  const std::string end = fmt::format("-of-{:05}.gguf", count);
  if (path.size() <= kTail || !path.ends_with(end) || path[path.size() - kTail] != '-') {
    return invalid_input(
        "{}: The file is one of {} parts, whose names must end in \"-00001{}\" and so on.", path,
        count, end);
  }
  return fmt::format("{}-{:05}{}", path.substr(0, path.size() - kTail), number + 1, end);
}

}  // namespace tokamak
