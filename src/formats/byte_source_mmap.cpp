// Memory-mapped files (POSIX).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "formats/native_files.h"

namespace tokamak {
namespace {

/// O_NONBLOCK: opening a pipe would otherwise wait for a writer.
constexpr int kHowToOpen = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

/// The same from every working directory.
std::string absolute(const std::string& path) {
  char here[PATH_MAX];
  if (path.starts_with('/') || ::getcwd(here, sizeof here) == nullptr) return path;
  return fmt::format("{}/{}", here, path);
}

/// Closes it.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// Owns the mapping and no descriptor: a model may have more files than a process may hold open.
/// So that a file that shrinks is noticed before its lost pages are touched, which would end the
/// process, its name is looked up again each time. When the name leads elsewhere by then, the file
/// has none to be shortened by.
class MappedFile final : public ByteSource {
 public:
  MappedFile(std::string name, const struct stat& status, const std::byte* begin)
      : ByteSource(std::move(name), uint64_t(status.st_size)),
        path_(absolute(this->name())),
        device_(status.st_dev),
        inode_(status.st_ino),
        begin_(begin) {}

  ~MappedFile() override {
    if (begin_ != nullptr) ::munmap(const_cast<std::byte*>(begin_), size_t(size()));
  }

  Result<FileBytes> view(uint64_t offset, uint64_t length) const override {
    TOK_TRY(check_range(offset, length));
    struct stat status{};
    const bool is_found = ::stat(path_.c_str(), &status) == 0;
    if (is_found && is_same(status) && uint64_t(status.st_size) < offset + length) {
      return became_shorter(uint64_t(status.st_size));
    }
    if (length == 0) return FileBytes();
    return FileBytes(std::span(begin_ + offset, size_t(length)));
  }

  Result<void> read(uint64_t offset, std::span<std::byte> out) const override {
    TOK_TRY(const FileBytes mapped, view(offset, out.size()));
    // A disk's errors are results of pread(), and signals where the mapping is read.
    const Descriptor file(::open(path_.c_str(), kHowToOpen));
    struct stat status{};
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0 || !is_same(status)) {
      std::ranges::copy(mapped, out.begin());
      return {};
    }
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t count =
          ::pread(file.number(), out.data() + done, out.size() - done, off_t(offset + done));
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
  bool is_same(const struct stat& status) const {
    return status.st_dev == device_ && status.st_ino == inode_;
  }

  Failure became_shorter(uint64_t now) const {
    return invalid_input("{}: The file had {} bytes when it was opened and has {} bytes now.",
                         name(), size(), now);
  }

  std::string path_;  // the caller may change the working directory
  dev_t device_;
  ino_t inode_;
  const std::byte* begin_;  // null for an empty file
};

}  // namespace

Result<std::shared_ptr<ByteSource>> open_file(const std::string& path) {
  if (path.find('\0') != path.npos) return invalid_input("A path contains a NUL character.");
  const Descriptor file(::open(path.c_str(), kHowToOpen));
  if (file.number() < 0) {
    return invalid_input("{}: Cannot open the file: {}.", path, std::strerror(errno));
  }
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) {
    return invalid_input("{}: The file cannot be examined: {}.", path, std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    return invalid_input("{}: Expected a file but found a directory.", path);
  }
  if (!S_ISREG(status.st_mode)) {
    return invalid_input("{}: Expected a file but found a device or a pipe.", path);
  }
  const uint64_t size = uint64_t(status.st_size);
  if (size == 0) return std::make_shared<MappedFile>(path, status, nullptr);
  void* begin = ::mmap(nullptr, size_t(size), PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (begin == MAP_FAILED) {
    return invalid_input("{}: Mapping {} bytes into memory fails: {}.", path, size,
                         std::strerror(errno));
  }
  return std::make_shared<MappedFile>(path, status, static_cast<const std::byte*>(begin));
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
