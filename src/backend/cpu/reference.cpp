// The reference backend.
#include "backend/cpu/program.h"

namespace tokamak {
namespace {

class ReferenceBackend : public Backend {
 public:
  ReferenceBackend() {
    device_.backend = BackendKind::kCpu;
    device_.name = "CPU reference";
    device_.driver = "plain C++";
    device_.software = true;
  }
  const DeviceInfo& device() const override { return device_; }
  uint64_t device_bytes() const override { return *alive_; }

  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    return make_cpu_program(std::move(plan), constants, progress, nullptr, alive_);
  }

 private:
  DeviceInfo device_;
  std::shared_ptr<uint64_t> alive_ = std::make_shared<uint64_t>(0);
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() {
  return std::make_unique<ReferenceBackend>();
}

}  // namespace tokamak
