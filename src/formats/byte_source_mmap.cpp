// Memory-mapped files.
#include <algorithm>
#include <utility>

#include "base/system/file.h"
#include "base/system/mapped_file.h"
#include "base/system/path_text.h"
#include "formats/native_files.h"

namespace tokamak {
namespace {

/// Owns the mapping and no descriptor: a model may have more files than a process may hold open.
/// So that a file that shrinks is noticed before its lost pages are touched, which would end the
/// process, its name is looked up again each time. When the name leads elsewhere by then, the file
/// has none to be shortened by.
class MappedSource final : public ByteSource {
 public:
  MappedSource(std::string name, const FileState& state, MappedFile mapped)
      : ByteSource(std::move(name), state.bytes),
        path_(absolute_path(this->name())),
        identity_(state.identity),
        mapped_(std::move(mapped)) {}

  Result<FileBytes> view(uint64_t offset, uint64_t length) const override {
    TOK_TRY(check_range(offset, length));
    const auto now = file_state(path_);
    if (now && now->identity == identity_ && now->bytes < offset + length) {
      return became_shorter(now->bytes);
    }
    return FileBytes(mapped_.bytes().subspan(size_t(offset), size_t(length)));
  }

  Result<void> read(uint64_t offset, std::span<std::byte> out) const override {
    TOK_TRY(const FileBytes mapped, view(offset, out.size()));
    // A disk's errors are results of File, and signals where the mapping is read.
    const auto file = File::open(path_, FileMode::kRead);
    const auto state = file ? file->state() : Failure(file.error());
    if (!state || state->identity != identity_) {
      std::ranges::copy(mapped, out.begin());
      return {};
    }
    const auto count = file->read_at(offset, out);
    if (!count) {
      return invalid_input("{}: The file cannot be read: {}.", name(), count.error().message);
    }
    if (*count < out.size()) return became_shorter(offset + *count);
    return {};
  }

 private:
  Failure became_shorter(uint64_t now) const {
    return invalid_input("{}: The file had {} bytes when it was opened and has {} bytes now.",
                         name(), size(), now);
  }

  std::string path_;  // the caller may change the working directory
  FileIdentity identity_;
  MappedFile mapped_;
};

}  // namespace

Result<std::shared_ptr<ByteSource>> open_file(const std::string& path) {
  if (path.find('\0') != path.npos) return invalid_input("A path contains a NUL character.");
  const auto file = File::open(path, FileMode::kRead);
  if (!file) return invalid_input("{}: Cannot open the file: {}.", path, file.error().message);
  const auto state = file->state();
  if (!state) {
    return invalid_input("{}: The file cannot be examined: {}.", path, state.error().message);
  }
  if (state->kind == FileKind::kFolder) {
    return invalid_input("{}: Expected a file but found a directory.", path);
  }
  if (state->kind != FileKind::kFile) {
    return invalid_input("{}: Expected a file but found a device or a pipe.", path);
  }
  auto mapped = MappedFile::map(*file, state->bytes);
  if (!mapped) {
    return invalid_input("{}: Mapping {} bytes into memory fails: {}.", path, state->bytes,
                         mapped.error().message);
  }
  return std::make_shared<MappedSource>(path, *state, *std::move(mapped));
}

Result<std::string> read_text_file(const std::string& path, uint64_t max_bytes) {
  TOK_TRY(auto file, open_file(path));
  if (file->size() > max_bytes) {
    return invalid_input("{}: The file has {} bytes, but at most {} are expected.", path,
                         file->size(), max_bytes);
  }
  std::string text(size_t(file->size()), '\0');
  TOK_TRY(file->read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

bool file_exists(const std::string& path) {
  return file_state(path).has_value();
}

bool is_directory(const std::string& path) {
  const auto state = file_state(path);
  return state && state->kind == FileKind::kFolder;
}

}  // namespace tokamak
