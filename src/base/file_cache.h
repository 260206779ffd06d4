// Folders of what would cost time to make again, one file per entry: how large they may grow, what
// goes first, and when nothing is written. Native builds only.
//
// Whoever writes makes room, and removes what has been of no use for the longest time. Several
// processes may do so at once: an entry is there whole or not at all, and what is gone is made
// again.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak {

struct CacheKind {
  std::string_view name;    // as `tokamak cache` calls it
  std::string_view folder;  // the purpose, for cache_folder()
  std::string_view ending;  // of the names of its entries
  std::string_view holds;   // for people
  uint64_t limit;           // in bytes, unless the variable says another
  const char* variable;     // of the environment; null: there is none
};

inline constexpr CacheKind kPipelineCache = {
    "pipelines", "pipelines", ".pipeline", "kernels", uint64_t{1} << 30, "TOKAMAK_PIPELINES_LIMIT"};
inline constexpr CacheKind kWeightCache = {"weights",          "quantized",
                                           ".safetensors",     "quantized weights",
                                           uint64_t{16} << 30, "TOKAMAK_WEIGHTS_LIMIT"};
inline constexpr CacheKind kSelfTestCache = {"self-test",           "self-test",        ".json",
                                             "verdicts on kernels", uint64_t{64} << 20, nullptr};
inline constexpr CacheKind kTuningCache = {
    "tuning", "tuned", ".json", "results of `tokamak tune`", uint64_t{64} << 20, nullptr};
inline constexpr std::array kCacheKinds = {kPipelineCache, kWeightCache, kSelfTestCache,
                                           kTuningCache};

/// How many bytes entries may have together; 0: nothing is kept. Errors (kUsage): the variable is
/// set to no size.
Result<uint64_t> cache_limit(const CacheKind& kind);

struct CacheEntry {
  std::filesystem::path path;
  uint64_t bytes = 0;
  std::filesystem::file_time_type used;  // for the last time, to the hour
  bool is_partial = false;               // being written, or left by what could not finish
};

/// Any thread may call.
class FileCache {
 public:
  /// `folder` "": nothing is kept. It need not be there.
  FileCache(std::string folder, const CacheKind& kind);

  const std::string& folder() const { return folder_; }
  /// Lists the entries, least recently used first; none where the folder cannot be read.
  std::vector<CacheEntry> entries() const;
  /// Tells that an entry was of use.
  static void mark_used(const std::filesystem::path& entry);

  /// Makes the folder, and room for that many bytes more. False where they are not to be written:
  /// beyond the limit, or more than the disk has to spare.
  bool make_room(uint64_t bytes);
  /// Writes an entry, whole or not at all. False where it is not there afterwards.
  bool write(const std::string& name, std::initializer_list<std::span<const std::byte>> pieces);
  /// To be told by who writes an entry without write().
  void could_not_write();
  /// Why something could not be kept, the last time that happened, as part of a sentence; "" when
  /// everything was, or nothing is to be kept.
  std::string problem() const;

  struct Removed {
    uint64_t entries = 0, bytes = 0;
  };
  /// Removes what was last used before `before`, what no writer can be at any more, and then what
  /// is beyond the limit.
  Removed prune(std::optional<std::filesystem::file_time_type> before = std::nullopt);
  Removed clear();

 private:
  /// Removes the oldest down to that many bytes; gives what is left.
  uint64_t shrink(uint64_t bytes);
  bool refuse(std::string why);

  std::string folder_;
  CacheKind kind_;
  Result<uint64_t> limit_;
  mutable std::mutex mutex_;
  std::optional<uint64_t> bytes_;  // of all entries, as far as this process knows
  std::string problem_;
};

}  // namespace tokamak
