#include "download/blob_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "download/digest.h"
#include "hub/cache.h"

namespace tokamak::download {
namespace {

// Small enough that a cut connection costs little when the server has no ranges, large enough that
// requests do not count.
constexpr uint64_t kPartBytes = uint64_t{32} << 20;
constexpr size_t kReadBytes = size_t{1} << 20;

/// False with errno set.
bool write_all(int file, std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), off_t(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes = bytes.subspan(size_t(count));
    offset += uint64_t(count);
  }
  return true;
}

/// The paths of the contents on the way and of the counts.
std::string contents_path_of(const std::string& blobs, const hub::RepoFile& file) {
  return blobs + "/" + file.hash + std::string(hub::kPartialEnding);
}
std::string counts_path_of(const std::string& contents_path) {
  return contents_path + ".parts";
}

std::string read_whole(int file) {
  struct stat status{};
  constexpr off_t kMax = 64 << 20;
  if (::fstat(file, &status) != 0 || status.st_size > kMax) return "";
  std::string text(size_t(status.st_size), '\0');
  const ssize_t count = ::pread(file, text.data(), text.size(), 0);
  text.resize(size_t(std::max<ssize_t>(count, 0)));
  return text;
}

Failure file_failure(const std::string& path, std::string_view what, int reason) {
  if (reason == ENOSPC || reason == EDQUOT) {
    return fail(ErrorCode::kOutOfMemory,
                "{}: The disk is full. What was fetched stays; make room and pull again.", path);
  }
  return invalid_input("{}: {} fails: {}.", path, what, std::strerror(reason));
}

}  // namespace

BlobFile::BlobFile(BlobFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::move(other.file_)),
      contents_(std::exchange(other.contents_, -1)),
      counts_(std::exchange(other.counts_, -1)),
      parts_(std::move(other.parts_)) {}

BlobFile& BlobFile::operator=(BlobFile&& other) noexcept {
  path_.swap(other.path_);
  std::swap(file_, other.file_);
  std::swap(contents_, other.contents_);
  std::swap(counts_, other.counts_);
  std::swap(parts_, other.parts_);
  return *this;
}

BlobFile::~BlobFile() {
  close_files();
}

void BlobFile::close_files() {
  for (int* file : {&contents_, &counts_}) {
    if (*file >= 0) ::close(std::exchange(*file, -1));
  }
}

std::string BlobFile::contents_path() const {
  return path_ + std::string(hub::kPartialEnding);
}
std::string BlobFile::counts_path() const {
  return counts_path_of(contents_path());
}

Result<void> BlobFile::open_files(int flags) {
  // O_NOFOLLOW: nothing may lead out of the cache.
  flags |= O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  for (const auto& [file, path] :
       {std::pair(&contents_, contents_path()), std::pair(&counts_, counts_path())}) {
    if (*file < 0) *file = ::open(path.c_str(), flags, 0644);
    if (*file < 0) return file_failure(path, "Opening the file", errno);
  }
  return {};
}

Failure BlobFile::failed(std::string_view what) const {
  const int reason = errno;
  return file_failure(path_, what, reason);
}

uint64_t BlobFile::left_before(const std::string& blobs, const hub::RepoFile& file) {
  const std::string contents_path = contents_path_of(blobs, file);
  struct stat status{};
  if (::lstat(contents_path.c_str(), &status) != 0 || uint64_t(status.st_size) != file.size)
    return 0;
  const int counts =
      ::open(counts_path_of(contents_path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (counts < 0) return 0;
  const auto parts = hub::parse_parts(read_whole(counts), file.size);
  ::close(counts);
  return parts ? parts->total_done() : 0;
}

Result<BlobFile> BlobFile::open(const std::string& blobs, const hub::RepoFile& file) {
  BlobFile blob(blobs + "/" + file.hash, file);
  TOK_TRY(blob.open_files(O_CREAT));
  TOK_TRY(blob.find_parts());
  blob.close_files();
  return blob;
}

Result<void> BlobFile::find_parts() {
  struct stat status{};
  if (::fstat(contents_, &status) != 0) return failed("Examining the file");
  auto parts = hub::parse_parts(read_whole(counts_), file_.size);
  if (parts && uint64_t(status.st_size) == file_.size) {
    parts_ = *std::move(parts);
    return {};
  }
  parts_ = hub::new_parts(file_.size, kPartBytes);
  const std::string text = hub::format_parts(parts_);
  // The counts go first and come last: at no time do they speak of bytes that are not there.
  if (::ftruncate(counts_, 0) != 0 || ::ftruncate(contents_, 0) != 0 ||
      ::ftruncate(contents_, off_t(file_.size)) != 0 ||
      !write_all(counts_, std::as_bytes(std::span(text)), 0)) {
    return failed("Writing");
  }
  return {};
}

Result<void> BlobFile::write(size_t part, std::span<const std::byte> bytes) {
  uint64_t& done = parts_.done[part];
  const uint64_t offset = parts_.begin(part) + done;
  TOK_CHECK(offset + bytes.size() <= parts_.end(part));
  TOK_TRY(open_files(0));
  if (!write_all(contents_, bytes, offset)) return failed("Writing");
  done += bytes.size();
  const std::string count = hub::format_count(done);
  if (!write_all(counts_, std::as_bytes(std::span(count)), hub::count_offset(part))) {
    return failed("Writing");
  }
  return {};
}

Result<void> BlobFile::finish(const std::function<void(uint64_t)>& checked) {
  TOK_TRY(open_files(0));
  Digest digest = file_.large() ? Digest::sha256() : Digest::git_blob(file_.size);
  std::vector<std::byte> buffer(std::min<uint64_t>(kReadBytes, std::max<uint64_t>(file_.size, 1)));
  for (uint64_t at = 0; at < file_.size;) {
    const size_t wanted = size_t(std::min<uint64_t>(buffer.size(), file_.size - at));
    const ssize_t count = ::pread(contents_, buffer.data(), wanted, off_t(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("Reading");
    if (count == 0) {
      return invalid_input(
          "{}: The file ends after {} of {} bytes: something else has changed it. Pull again.",
          contents_path(), at, file_.size);
    }
    digest.add(std::span(buffer).first(size_t(count)));
    at += uint64_t(count);
    checked(at);
  }
  const std::string found = digest.hex();
  if (found != file_.hash) {
    ::unlink(counts_path().c_str());
    ::unlink(contents_path().c_str());
    return invalid_input(
        "{}: What arrived has {} {}, but the hub says {}. The damaged file was deleted; pull "
        "again.",
        file_.path, file_.large() ? "SHA-256" : "git's SHA-1", found, file_.hash);
  }
  // A blob with its final name is never looked at again, so its bytes must be on the disk first.
  if (::fsync(contents_) != 0) return failed("Writing");
  if (::rename(contents_path().c_str(), path_.c_str()) != 0) return failed("Renaming");
  ::unlink(counts_path().c_str());
  close_files();
  return {};
}

}  // namespace tokamak::download
