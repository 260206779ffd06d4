// Compiled kernels kept between runs: pipelines under keys that the WebGPU implementation makes
// from the shader, the device and the driver; CUDA's machine code under keys of
// backend/cuda/modules.cpp.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tokamak {

/// Called from several threads at once. A failure of any kind is a miss, never an error.
class PipelineCache {
 public:
  virtual ~PipelineCache() = default;
  /// The bytes of the entry; copies them when `value` has that size. 0: there is none.
  virtual size_t load(std::span<const uint8_t> key, std::span<uint8_t> value) = 0;
  virtual void store(std::span<const uint8_t> key, std::span<const uint8_t> value) = 0;
  /// Why something could not be stored; "" when everything was.
  virtual std::string problem() const { return ""; }

  /// Lookups of entries since it was opened.
  struct Lookups {
    uint32_t found = 0, missed = 0;
  };
  Lookups lookups() const { return {found_.load(), missed_.load()}; }
  void count(bool found) { ++(found ? found_ : missed_); }

 private:
  std::atomic<uint32_t> found_ = 0, missed_ = 0;
};

/// One file per entry in `folder`, a FileCache. Null where there are no files.
std::unique_ptr<PipelineCache> open_pipeline_cache(const std::string& folder);

}  // namespace tokamak
