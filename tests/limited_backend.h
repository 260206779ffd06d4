// A device that says it binds less at once than it does: its plans cut their weights.
#pragma once
#include "backend/backend.h"

namespace tokamak {

class LimitedBackend : public Backend {
 public:
  LimitedBackend(Backend& real, uint64_t binding_bytes) : real_(real), device_(real.device()) {
    device_.limits.binding_bytes = binding_bytes;
  }

  const DeviceInfo& device() const override { return device_; }
  uint64_t device_bytes() const override { return real_.device_bytes(); }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    return real_.compile(std::move(plan), constants, progress);
  }

 private:
  Backend& real_;
  DeviceInfo device_;
};

}  // namespace tokamak
