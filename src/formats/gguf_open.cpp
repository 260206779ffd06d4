// Opens GGUF by path.
#include "formats/native_files.h"
#include "formats/unread.h"

namespace tokamak {
namespace {

/// `unread` null: tensors of types that are not read are refused.
Result<GgufFile> open_parts(const std::string& path, UnreadTensors* unread) {
  const auto read = [&](std::shared_ptr<ByteSource> source) {
    return unread != nullptr ? read_gguf_part(std::move(source), *unread)
                             : read_gguf_part(std::move(source));
  };
  TOK_TRY(auto source, open_file(path));
  if (source->size() == 0) return invalid_input("{}: The file is empty.", path);
  TOK_TRY(GgufPart given, read(std::move(source)));
  const uint32_t count = given.count, number = given.number;
  std::vector<GgufPart> parts;
  for (uint32_t i = 0; i < count; ++i) {
    if (i == number) {
      parts.push_back(std::move(given));
      continue;
    }
    TOK_TRY(const std::string name, gguf_part_path(path, i, count));
    if (!file_exists(name)) {
      return invalid_input("{}: The file is part {} of {}; part {} is missing: {}.", path,
                           number + 1, count, i + 1, name);
    }
    TOK_TRY(auto other, open_file(name));
    TOK_TRY(parts.emplace_back(), read(std::move(other)));
  }
  // One part may lack what another counts.
  if (unread != nullptr && !unread->empty() && !parts.empty()) parts[0].total_tensors.reset();
  return join_gguf_parts(std::move(parts));
}

}  // namespace

Result<GgufFile> open_gguf(const std::string& path) {
  return open_parts(path, nullptr);
}

Result<GgufFile> open_gguf(const std::string& path, UnreadTensors& unread) {
  return open_parts(path, &unread);
}

}  // namespace tokamak
