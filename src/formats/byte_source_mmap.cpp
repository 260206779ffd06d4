// Memory-mapped files (POSIX).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "formats/native_files.h"

namespace tokamak {
namespace {

/// Owns the descriptor and the mapping. The descriptor stays open so that a file that shrinks is
/// noticed before its lost pages are touched, which would end the process.
class MappedFile final : public ByteSource {
 public:
  MappedFile(std::string name, uint64_t size, int file, const std::byte* begin)
      : ByteSource(std::move(name), size), file_(file), begin_(begin) {}

  ~MappedFile() override {
    if (begin_ != nullptr) ::munmap(const_cast<std::byte*>(begin_), size_t(size()));
    ::close(file_);
  }

  Result<std::span<const std::byte>> view(uint64_t offset, uint64_t length) const override {
    TOK_TRY(check_range(offset, length));
    struct stat status{};
    if (::fstat(file_, &status) != 0) {
      return invalid_input("{}: The file cannot be examined: {}.", name(), std::strerror(errno));
    }
    if (uint64_t(status.st_size) < offset + length) return became_shorter(uint64_t(status.st_size));
    if (length == 0) return std::span<const std::byte>();
    return std::span(begin_ + offset, size_t(length));
  }

  Result<void> read(uint64_t offset, std::span<std::byte> out) const override {
    TOK_TRY(check_range(offset, out.size()));
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t count =
          ::pread(file_, out.data() + done, out.size() - done, off_t(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        return invalid_input("{}: The file cannot be read: {}.", name(), std::strerror(errno));
      }
      if (count == 0) return became_shorter(offset + done);
      done += size_t(count);
    }
    return {};
  }

 private:
  Failure became_shorter(uint64_t now) const {
    return invalid_input("{}: The file had {} bytes when it was opened and has {} bytes now.",
                         name(), size(), now);
  }

  int file_;
  const std::byte* begin_;  // null for an empty file
};

}  // namespace

Result<std::shared_ptr<ByteSource>> open_file(const std::string& path) {
  if (path.find('\0') != path.npos) return invalid_input("A path contains a NUL character.");
  // O_NONBLOCK: opening a pipe would otherwise wait for a writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return invalid_input("{}: Cannot open the file: {}.", path, std::strerror(errno));

  struct stat status{};
  Failure failure = invalid_input("{}: Expected a file but found {}.", path, "a directory");
  if (::fstat(file, &status) != 0) {
    failure = invalid_input("{}: The file cannot be examined: {}.", path, std::strerror(errno));
  } else if (S_ISREG(status.st_mode)) {
    const uint64_t size = uint64_t(status.st_size);
    if (size == 0) return std::make_shared<MappedFile>(path, size, file, nullptr);
    void* begin = ::mmap(nullptr, size_t(size), PROT_READ, MAP_PRIVATE, file, 0);
    if (begin != MAP_FAILED) {
      return std::make_shared<MappedFile>(path, size, file, static_cast<const std::byte*>(begin));
    }
    failure = invalid_input("{}: Mapping {} bytes into memory fails: {}.", path, size,
                            std::strerror(errno));
  } else if (!S_ISDIR(status.st_mode)) {
    failure = invalid_input("{}: Expected a file but found a device or a pipe.", path);
  }
  ::close(file);
  return failure;
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
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace tokamak
