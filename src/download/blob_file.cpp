#include "download/blob_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/system/path_text.h"
#include "download/digest.h"
#include "hub/cache.h"

namespace tokamak::download {
namespace {

// Small enough that a cut connection costs little when the server has no ranges, large enough that
// requests do not count.
constexpr uint64_t kPartBytes = uint64_t{32} << 20;
constexpr size_t kReadBytes = size_t{1} << 20;

constexpr FileRules kInCache = {.follows_links = false};  // nothing may lead out of it

/// The paths of the contents on the way and of the counts.
std::string contents_path_of(const std::string& blobs, const hub::RepoFile& file) {
  return blobs + "/" + file.hash + std::string(hub::kPartialEnding);
}
std::string counts_path_of(const std::string& contents_path) {
  return contents_path + ".parts";
}

std::string read_whole(const File& file) {
  constexpr uint64_t kMax = 64 << 20;
  const auto state = file.state();
  if (!state || state->bytes > kMax) return "";
  std::string text(size_t(state->bytes), '\0');
  text.resize(file.read_at(0, std::as_writable_bytes(std::span(text))).value_or(0));
  return text;
}

void remove_file(const std::string& path) {
  std::error_code gone_already;
  std::filesystem::remove(path_of(path), gone_already);
}

Failure file_failure(const std::string& path, std::string_view what, const Error& reason) {
  if (reason.code == ErrorCode::kOutOfMemory) {
    return fail(ErrorCode::kOutOfMemory,
                "{}: The disk is full. What was fetched stays; make room and pull again.", path);
  }
  return invalid_input("{}: {} fails: {}.", path, what, reason.message);
}

}  // namespace

void BlobFile::close_files() {
  contents_.close();
  counts_.close();
}

std::string BlobFile::contents_path() const {
  return path_ + std::string(hub::kPartialEnding);
}
std::string BlobFile::counts_path() const {
  return counts_path_of(contents_path());
}

Result<void> BlobFile::open_files(FileMode mode) {
  for (const auto& [file, path] :
       {std::pair(&contents_, contents_path()), std::pair(&counts_, counts_path())}) {
    if (file->is_open()) continue;
    auto opened = File::open(path, mode, kInCache);
    if (!opened) return file_failure(path, "Opening the file", opened.error());
    *file = *std::move(opened);
  }
  return {};
}

Failure BlobFile::failed(std::string_view what, const Error& reason) const {
  return file_failure(path_, what, reason);
}

uint64_t BlobFile::left_before(const std::string& blobs, const hub::RepoFile& file) {
  const std::string contents_path = contents_path_of(blobs, file);
  const auto state = link_state(contents_path);
  if (!state || state->bytes != file.size) return 0;
  const auto counts = File::open(counts_path_of(contents_path), FileMode::kRead, kInCache);
  if (!counts) return 0;
  const auto parts = hub::parse_parts(read_whole(*counts), file.size);
  return parts ? parts->total_done() : 0;
}

Result<BlobFile> BlobFile::open(const std::string& blobs, const hub::RepoFile& file) {
  BlobFile blob(blobs + "/" + file.hash, file);
  TOK_TRY(blob.open_files(FileMode::kCreate));
  TOK_TRY(blob.find_parts());
  blob.close_files();
  return blob;
}

Result<void> BlobFile::find_parts() {
  const auto state = contents_.state();
  if (!state) return failed("Examining the file", state.error());
  auto parts = hub::parse_parts(read_whole(counts_), file_.size);
  if (parts && state->bytes == file_.size) {
    parts_ = *std::move(parts);
    return {};
  }
  parts_ = hub::new_parts(file_.size, kPartBytes);
  const std::string text = hub::format_parts(parts_);
  // The counts go first and come last: at no time do they speak of bytes that are not there.
  const auto begin = [&]() -> Result<void> {
    TOK_TRY(counts_.resize(0));
    TOK_TRY(contents_.resize(0));
    TOK_TRY(contents_.resize(file_.size));
    return counts_.write_at(0, std::as_bytes(std::span(text)));
  };
  if (const auto begun = begin(); !begun) return write_failed(begun.error());
  return {};
}

Result<void> BlobFile::write(size_t part, std::span<const std::byte> bytes) {
  uint64_t& done = parts_.done[part];
  const uint64_t offset = parts_.begin(part) + done;
  TOK_CHECK(offset + bytes.size() <= parts_.end(part));
  TOK_TRY(open_files(FileMode::kChange));
  if (const auto written = contents_.write_at(offset, bytes); !written) {
    return write_failed(written.error());
  }
  done += bytes.size();
  const std::string count = hub::format_count(done);
  const auto counted = counts_.write_at(hub::count_offset(part), std::as_bytes(std::span(count)));
  if (!counted) return write_failed(counted.error());
  return {};
}

Result<void> BlobFile::finish(const std::function<void(uint64_t)>& checked) {
  TOK_TRY(open_files(FileMode::kChange));
  Digest digest = file_.large() ? Digest::sha256() : Digest::git_blob(file_.size);
  std::vector<std::byte> buffer(std::min<uint64_t>(kReadBytes, std::max<uint64_t>(file_.size, 1)));
  for (uint64_t at = 0; at < file_.size;) {
    const size_t wanted = size_t(std::min<uint64_t>(buffer.size(), file_.size - at));
    const auto count = contents_.read_at(at, std::span(buffer).first(wanted));
    if (!count) return failed("Reading", count.error());
    if (*count == 0) {
      return invalid_input(
          "{}: The file ends after {} of {} bytes: something else has changed it. Pull again.",
          contents_path(), at, file_.size);
    }
    digest.add(std::span(buffer).first(*count));
    at += *count;
    checked(at);
  }
  const std::string found = digest.hex();
  if (found != file_.hash) {
    remove_file(counts_path());
    remove_file(contents_path());
    return invalid_input(
        "{}: What arrived has {} {}, but the hub says {}. The damaged file was deleted; pull "
        "again.",
        file_.path, file_.large() ? "SHA-256" : "git's SHA-1", found, file_.hash);
  }
  // A blob with its final name is never looked at again, so its bytes must be on the disk first.
  if (const auto flushed = contents_.flush(); !flushed) return write_failed(flushed.error());
  std::error_code refused;
  std::filesystem::rename(path_of(contents_path()), path_of(path_), refused);
  if (refused) {
    return failed("Renaming", Error{ErrorCode::kInvalidInput, refused.message()});
  }
  remove_file(counts_path());
  close_files();
  return {};
}

}  // namespace tokamak::download
