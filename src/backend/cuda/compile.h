// One text through NVRTC.
#pragma once
#include <string>
#include <vector>

#include "backend/cuda/library.h"

namespace tokamak::cuda {

/// The output of NVRTC: machine code, or PTX, which the driver compiles once more.
struct CodeTarget {
  int architecture = 0;
  bool is_ptx = false;

  bool operator==(const CodeTarget&) const = default;
  /// "sm_90", "compute_90".
  std::string name() const;
};

/// For a GPU of that architecture and a driver that speaks that version of CUDA. Machine code runs
/// on GPUs of its major version whose minor one is not lower; for a GPU newer than those that NVRTC
/// knows there is PTX, which a driver takes from an NVRTC that is not newer than itself.
/// Errors: there is neither.
Result<CodeTarget> code_target(const Compiler& compiler, int driver_version, int architecture);

/// The options that a text is compiled with: IEEE arithmetic, nothing approximate.
std::vector<std::string> compile_options(CodeTarget target);

struct CompiledText {
  std::vector<uint8_t> code;
  std::string log;  // what NVRTC says of a text that it takes
};

/// The code of `text` (kernels/cuda/translate.h). `more`: further options. Errors: NVRTC's own
/// words about it. Several threads may call it at once.
Result<CompiledText> compile_text(const Compiler& compiler, std::string_view kernel,
                                  const std::string& text, CodeTarget target,
                                  const std::vector<std::string>& more = {});

}  // namespace tokamak::cuda
