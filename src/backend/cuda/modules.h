// Every kernel of a plan as machine code on the device.
#pragma once
#include <memory>
#include <vector>

#include "backend/cuda/compile.h"
#include "backend/cuda/device.h"
#include "plan/plan.h"

namespace tokamak::cuda {

/// A text that is ready to be launched.
struct Kernel {
  Module module = nullptr;
  Function function = nullptr;
  uint32_t lanes = 0, shared_bytes = 0;  // of a workgroup
};

/// The text of a step that the library computes.
inline constexpr size_t kNoText = SIZE_MAX;

/// The results of compile_plan().
struct Compiled {
  std::vector<std::vector<uint8_t>> codes;   // machine code or PTX
  std::vector<std::string> texts;            // each a translation unit
  std::vector<std::string> keys;             // of its code in the cache
  std::vector<std::string_view> names;       // of a kernel that has the text
  std::vector<uint8_t> are_cached;           // 1: its code is of an earlier run
  std::vector<std::vector<size_t>> of_step;  // [phase][step] -> index into `codes`, or kNoText
  CodeTarget target;
  double seconds = 0;
};

/// Translates the kernels of the plan and compiles those that the cache does not have of this
/// version of NVRTC, on all processors at once. Steps with the same text share one. Where there is
/// no NVRTC, what the cache has of any version is taken. Errors: a text that has no translation or
/// is refused; that NVRTC is not there, and needed.
Result<Compiled> compile_plan(CudaDevice& device, const Plan& plan,
                              const Result<Compiler>& by = compiler());

/// The loaded modules, unloaded with this object.
class Modules {
 public:
  Modules() = default;
  /// Loads the modules; kept ones that the driver refuses are compiled again, into `compiled`.
  static Result<Modules> load(std::shared_ptr<CudaDevice> device, Compiled& compiled);
  Modules(Modules&& other) noexcept = default;
  Modules& operator=(Modules&& other) noexcept;
  ~Modules();

  const Kernel& operator[](size_t i) const { return all_[i]; }

 private:
  std::shared_ptr<CudaDevice> device_;
  std::vector<Kernel> all_;
};

}  // namespace tokamak::cuda
