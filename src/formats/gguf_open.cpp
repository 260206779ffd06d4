// Opens GGUF by path.
#include "formats/native_files.h"

namespace tokamak {

Result<GgufFile> open_gguf(const std::string& path) {
  TOK_TRY(auto source, open_file(path));
  if (source->size() == 0) return invalid_input("{}: The file is empty.", path);
  TOK_TRY(GgufPart given, read_gguf_part(std::move(source)));
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
    TOK_TRY(parts.emplace_back(), read_gguf_part(std::move(other)));
  }
  return join_gguf_parts(std::move(parts));
}

}  // namespace tokamak
