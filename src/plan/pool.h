// Activation buffers, coloured by liveness: whole buffers, so that no step reads and writes one.
#pragma once
#include <cstdint>
#include <vector>

namespace tokamak {

class ActivationPool {
 public:
  /// A buffer that is free now: the smallest that is large enough, else the largest, grown, else a
  /// new one. Stays taken until release().
  uint32_t take(uint64_t bytes);
  void release(uint32_t index);
  /// Frees all; sizes stay, so that the next phase reuses the buffers.
  void release_all();

  const std::vector<uint64_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint64_t> bytes_;
  std::vector<bool> taken_;
};

}  // namespace tokamak
