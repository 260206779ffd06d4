#include "base/file_cache.h"

#include <algorithm>
#include <chrono>

#include "base/bytes_text.h"
#include "base/environment.h"
#include "base/system/path_text.h"
#include "base/whole_file.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

/// The space that a cache, which nobody needs, leaves free on a disk: this, or that part of a small
/// one.
constexpr uint64_t kSpareBytes = uint64_t{256} << 20;
constexpr uint64_t kSparePart = 50;
/// How old the time of use may get before it is set again: writing it costs more than reading it.
constexpr std::chrono::hours kUsedWithin(1);
/// No writer takes longer for a file.
constexpr std::chrono::hours kAbandonedAfter(24);

bool remove_entry(const CacheEntry& entry, FileCache::Removed& removed) {
  std::error_code failed;
  if (!fs::remove(entry.path, failed)) return false;
  removed.entries += entry.is_partial ? 0 : 1;
  removed.bytes += entry.bytes;
  return true;
}

}  // namespace

Result<uint64_t> cache_limit(const CacheKind& kind) {
  const std::string text =
      kind.variable == nullptr ? std::string() : environment_variable(kind.variable);
  if (text.empty()) return kind.limit;
  if (const auto bytes = parse_bytes(text)) return *bytes;
  return fail(ErrorCode::kUsage,
              "{} is \"{}\", expected a number of bytes, or one that ends in K, M, G or T.",
              kind.variable, text);
}

FileCache::FileCache(std::string folder, const CacheKind& kind)
    : folder_(std::move(folder)), kind_(kind), limit_(cache_limit(kind)) {}

std::vector<CacheEntry> FileCache::entries() const {
  std::vector<CacheEntry> found;
  std::error_code failed;
  if (folder_.empty()) return found;
  for (fs::directory_iterator at(path_of(folder_), failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = text_of(at->path().filename());
    CacheEntry entry{.path = at->path(), .bytes = 0, .used = {}};
    entry.is_partial = is_partial_of(name, kind_.ending);
    std::error_code gone;
    if (!(entry.is_partial || name.ends_with(kind_.ending)) ||
        at->symlink_status(gone).type() != fs::file_type::regular) {
      continue;
    }
    entry.bytes = at->file_size(gone);
    if (!gone) entry.used = at->last_write_time(gone);
    if (!gone) found.push_back(std::move(entry));
  }
  std::ranges::sort(found, {}, &CacheEntry::used);
  return found;
}

void FileCache::mark_used(const fs::path& entry) {
  std::error_code ignored;  // a cache that cannot be written can still be read
  const auto now = fs::file_time_type::clock::now();
  const auto before = fs::last_write_time(entry, ignored);
  if (!ignored && now - before > kUsedWithin) fs::last_write_time(entry, now, ignored);
}

bool FileCache::refuse(std::string why) {
  if (why.ends_with('.')) why.pop_back();  // it becomes part of a sentence
  problem_ = std::move(why);
  return false;
}

bool FileCache::make_room(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (folder_.empty()) return false;
  if (!limit_) return refuse(limit_.error().message);
  if (*limit_ == 0) return false;  // as somebody wants it
  if (bytes > *limit_) {
    const std::string how =
        kind_.variable == nullptr ? "" : fmt::format(", which {} sets", kind_.variable);
    return refuse(fmt::format("{} are more than the limit of {}{}", bytes_text(bytes),
                              bytes_text(*limit_), how));
  }
  std::error_code failed;
  fs::create_directories(path_of(folder_), failed);
  if (failed) return refuse(fmt::format("{} cannot be made ({})", folder_, failed.message()));
  const fs::space_info disk = fs::space(path_of(folder_), failed);
  if (!failed) {
    const uint64_t spare = std::min<uint64_t>(kSpareBytes, disk.capacity / kSparePart);
    if (disk.available < spare || disk.available - spare < bytes) {
      return refuse(
          fmt::format("the disk of {} is full: {} are free", folder_, bytes_text(disk.available)));
    }
  }
  if (!bytes_) {
    bytes_ = 0;
    for (const CacheEntry& entry : entries()) *bytes_ += entry.bytes;
  }
  // More than is needed now, so that not every write looks through the folder.
  if (*bytes_ + bytes > *limit_) bytes_ = shrink((*limit_ - bytes) / 16 * 15);
  *bytes_ += bytes;
  return true;
}

uint64_t FileCache::shrink(uint64_t bytes) {
  const std::vector<CacheEntry> all = entries();
  uint64_t left = 0;
  for (const CacheEntry& entry : all) left += entry.bytes;
  Removed removed;
  for (const CacheEntry& entry : all) {
    if (left <= bytes) break;
    if (!entry.is_partial && remove_entry(entry, removed)) left -= entry.bytes;
  }
  return left;
}

bool FileCache::write(const std::string& name,
                      std::initializer_list<std::span<const std::byte>> pieces) {
  uint64_t bytes = 0;
  for (const std::span<const std::byte> piece : pieces) bytes += piece.size();
  if (!make_room(bytes)) return false;
  WholeFile file(folder_ + "/" + name);
  for (const std::span<const std::byte> piece : pieces) file.put(piece);
  if (file.commit()) return true;
  could_not_write();
  return false;
}

void FileCache::could_not_write() {
  const std::lock_guard lock(mutex_);
  refuse(fmt::format("{} cannot be written", folder_));
}

std::string FileCache::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

FileCache::Removed FileCache::prune(std::optional<fs::file_time_type> before) {
  const std::lock_guard lock(mutex_);
  const auto abandoned = fs::file_time_type::clock::now() - kAbandonedAfter;
  Removed removed;
  uint64_t left = 0;
  std::vector<CacheEntry> kept;
  for (CacheEntry& entry : entries()) {
    const bool is_old = entry.is_partial ? entry.used < abandoned : before && entry.used < *before;
    if (is_old && remove_entry(entry, removed)) continue;
    left += entry.bytes;
    kept.push_back(std::move(entry));
  }
  for (const CacheEntry& entry : kept) {
    if (!limit_ || left <= *limit_) break;
    if (!entry.is_partial && remove_entry(entry, removed)) left -= entry.bytes;
  }
  bytes_.reset();
  return removed;
}

FileCache::Removed FileCache::clear() {
  const std::lock_guard lock(mutex_);
  Removed removed;
  for (const CacheEntry& entry : entries()) remove_entry(entry, removed);
  bytes_.reset();
  return removed;
}

}  // namespace tokamak
