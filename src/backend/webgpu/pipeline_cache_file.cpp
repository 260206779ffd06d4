// The pipeline cache on disk. An entry is a header, the whole key and the value; a file is written
// beside its place and renamed, so that readers see all of it or nothing, and what was damaged
// since then fails its checksum.
#include <atomic>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <system_error>
#include <vector>

#include "backend/webgpu/pipeline_cache.h"
#include "base/result.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMagic = 0x3145444f434b4f54;  // "TOKCODE1", little-endian
constexpr uint64_t kLargestEntry = uint64_t{64} << 20;

struct EntryHeader {
  uint64_t magic = kMagic;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint64_t checksum = 0;  // of key and value
};

/// FNV-1a.
uint64_t hash(std::span<const uint8_t> bytes, uint64_t state) {
  for (const uint8_t byte : bytes) state = (state ^ byte) * 0x100000001b3u;
  return state;
}
constexpr uint64_t kHashStart = 0xcbf29ce484222325u;

using Bytes = std::vector<uint8_t>;

class FilePipelineCache : public PipelineCache {
 public:
  explicit FilePipelineCache(fs::path folder) : folder_(std::move(folder)) {
    std::error_code ignored;  // without a folder every store fails, which is no error
    fs::create_directories(folder_, ignored);
    run_ = std::random_device()();
  }

  size_t load(std::span<const uint8_t> key, std::span<uint8_t> value) override {
    const std::string name = file_name(key);
    const std::lock_guard lock(mutex_);
    // The caller asks twice, for the size and for the bytes; both answers come from one reading.
    auto found = asked_.find(name);
    if (found == asked_.end()) {
      Bytes read = read_entry(folder_ / name, key);
      if (read.empty()) return 0;
      found = asked_.emplace(name, std::move(read)).first;
    }
    const size_t size = found->second.size();
    if (value.size() != size) return size;
    std::memcpy(value.data(), found->second.data(), size);
    asked_.erase(found);
    return size;
  }

  void store(std::span<const uint8_t> key, std::span<const uint8_t> value) override {
    if (value.empty() || value.size() > kLargestEntry) return;
    const EntryHeader header = {.key_bytes = key.size(),
                                .value_bytes = value.size(),
                                .checksum = hash(value, hash(key, kHashStart))};
    const fs::path place = folder_ / file_name(key);
    const fs::path partial =
        folder_ / fmt::format("{:08x}-{}.partial", run_, counter_.fetch_add(1));
    std::error_code ignored;
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    const auto put = [&](const void* data, size_t size) {
      file.write(static_cast<const char*>(data), std::streamsize(size));
    };
    put(&header, sizeof header);
    put(key.data(), key.size());
    put(value.data(), value.size());
    file.close();
    if (file.good()) fs::rename(partial, place, ignored);
    if (!file.good() || ignored) fs::remove(partial, ignored);
  }

 private:
  static std::string file_name(std::span<const uint8_t> key) {
    return fmt::format("{:016x}{:016x}.pipeline", hash(key, kHashStart), hash(key, ~kHashStart));
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
        header.value_bytes == 0 || header.value_bytes > kLargestEntry ||
        size != sizeof header + header.key_bytes + header.value_bytes) {
      return {};
    }
    Bytes found(key.size()), value(size_t(header.value_bytes));
    file.read(reinterpret_cast<char*>(found.data()), std::streamsize(found.size()));
    file.read(reinterpret_cast<char*>(value.data()), std::streamsize(value.size()));
    if (!file || !std::equal(key.begin(), key.end(), found.begin()) ||
        hash(value, hash(found, kHashStart)) != header.checksum) {
      return {};
    }
    return value;
  }

  fs::path folder_;
  uint32_t run_ = 0;  // tells this run's partial files from those of others
  std::atomic<uint32_t> counter_ = 0;
  std::mutex mutex_;
  std::map<std::string, Bytes> asked_;
};

}  // namespace

std::unique_ptr<PipelineCache> open_pipeline_cache(const std::string& folder) {
  return std::make_unique<FilePipelineCache>(folder);
}

}  // namespace tokamak
