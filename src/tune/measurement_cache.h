// The cache of what a run finds out about a device: verdicts of the self-test, timings of `tokamak
// tune`. A JSON document per device, in a folder per kind. Native programs only.
//
// A document belongs to the device, its driver, what was asked of it and the sources of the
// kernels; one of anything else, or one that is damaged, is as good as none and is written over.
#pragma once
#include <string>

#include "base/file_cache.h"
#include "base/json.h"
#include "kernels/kernel.h"

namespace tokamak {

class MeasurementCache {
 public:
  /// `folder` "": nothing is kept. `kind` says how large it may grow.
  MeasurementCache(std::string folder, const CacheKind& kind, const DeviceInfo& device);

  /// Null when there is nothing to use.
  Json read() const;
  /// Writes beside the place and renames, so that readers see all of it or nothing. False when the
  /// folder cannot be written to.
  bool write(const Json& cache) const;

  /// "" without a folder.
  const std::string& path() const { return path_; }

 private:
  std::string folder_, name_, path_;
  CacheKind kind_;
  Json device_;
};

}  // namespace tokamak
