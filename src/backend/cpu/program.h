// Processors as devices: what the reference and the one with vectors share.
#pragma once
#include <memory>

#include "backend/backend.h"

namespace tokamak {

/// The part of a processor that kernels for vectors need: its threads, and matrices in panels
/// (kernels/cpu/panels.h).
class Vectors {
 public:
  virtual ~Vectors() = default;
  virtual ThreadPool& pool() = 0;
  virtual std::shared_ptr<const PanelLayout> layout(DType dtype, uint64_t rows, uint64_t columns,
                                                    bool is_exact) const = 0;
  virtual uint64_t bytes(const PanelLayout& layout) const = 0;
  /// Writes the panels of a matrix whose streams are at hand.
  virtual void pack(const PanelLayout& layout, std::span<const std::byte> streams,
                    std::byte* to) = 0;
};

/// The backend of a processor; `vectors` is null in the reference.
std::unique_ptr<Backend> make_cpu_backend_of(DeviceInfo device, std::shared_ptr<Vectors> vectors);

}  // namespace tokamak
