// The pipeline cache on disk. An entry is a header, the whole key and the value; readers see all
// of a file or nothing, and what was damaged since then fails its checksum.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

#include "backend/pipeline_cache.h"
#include "base/file_cache.h"
#include "base/hash.h"
#include "base/system/path_text.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMagic = 0x3145444f434b4f54;  // "TOKCODE1", little-endian
constexpr uint64_t kMaxEntry = uint64_t{64} << 20;

struct EntryHeader {
  uint64_t magic = kMagic;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint64_t checksum = 0;  // of key and value
};

using Bytes = std::vector<uint8_t>;

class FilePipelineCache : public PipelineCache {
 public:
  explicit FilePipelineCache(const std::string& folder) : files_(folder, kPipelineCache) {}

  size_t load(std::span<const uint8_t> key, std::span<uint8_t> value) override {
    const std::string name = file_name(key);
    // The caller asks twice, for the size and for the bytes; both answers come from one reading.
    Bytes entry = take(name);
    if (entry.empty()) entry = read_entry(path_of(files_.folder()) / path_of(name), key);
    const size_t size = entry.size();
    if (value.size() == size) {
      std::ranges::copy(entry, value.begin());
    } else if (size > 0) {
      const std::lock_guard lock(mutex_);
      loaded_.insert_or_assign(name, std::move(entry));
    }
    return size;
  }

  void store(std::span<const uint8_t> key, std::span<const uint8_t> value) override {
    if (value.empty() || value.size() > kMaxEntry) return;
    const EntryHeader header = {.key_bytes = key.size(),
                                .value_bytes = value.size(),
                                .checksum = hash_bytes(value, hash_bytes(key))};
    // An entry that cannot be kept is compiled again.
    files_.write(file_name(key),
                 {std::as_bytes(std::span(&header, 1)), std::as_bytes(key), std::as_bytes(value)});
  }

  std::string problem() const override { return files_.problem(); }

 private:
  /// The bytes that an earlier look-up has read, once.
  Bytes take(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = loaded_.extract(name);
    return found.empty() ? Bytes() : std::move(found.mapped());
  }

  static std::string file_name(std::span<const uint8_t> key) {
    return fmt::format("{:016x}{:016x}{}", hash_bytes(key), hash_bytes(key, ~kHashStart),
                       kPipelineCache.ending);
  }

  /// The value, or nothing if the file is not a whole entry of this key.
  static Bytes read_entry(const fs::path& path, std::span<const uint8_t> key) {
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error || size < sizeof(EntryHeader)) return {};
    std::ifstream file(path, std::ios::binary);
    EntryHeader header;
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    if (!file || header.magic != kMagic || header.key_bytes != key.size() ||
        header.value_bytes == 0 || header.value_bytes > kMaxEntry ||
        size != sizeof header + header.key_bytes + header.value_bytes) {
      return {};
    }
    Bytes found(key.size()), value(size_t(header.value_bytes));
    file.read(reinterpret_cast<char*>(found.data()), std::streamsize(found.size()));
    file.read(reinterpret_cast<char*>(value.data()), std::streamsize(value.size()));
    if (!file || !std::equal(key.begin(), key.end(), found.begin()) ||
        hash_bytes<uint8_t>(value, hash_bytes<uint8_t>(found)) != header.checksum) {
      return {};
    }
    FileCache::mark_used(path);
    return value;
  }

  FileCache files_;
  std::mutex mutex_;
  std::map<std::string, Bytes> loaded_;
};

}  // namespace

std::unique_ptr<PipelineCache> open_pipeline_cache(const std::string& folder) {
  return std::make_unique<FilePipelineCache>(folder);
}

}  // namespace tokamak
