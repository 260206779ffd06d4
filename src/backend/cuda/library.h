// The places of the CUDA driver, its run-time compiler and its library of products, and whether
// they fit together.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/api.h"
#include "base/result.h"

namespace tokamak::cuda {

/// The driver.
struct Driver {
  DriverApi api = {};
  int version = 0;  // of CUDA, that it speaks: 13000
};

/// NVRTC.
struct Compiler {
  CompilerApi api = {};
  int major = 0, minor = 0;
  std::string path;                // as the loader found it
  std::vector<int> architectures;  // 75, 80, ... that it knows
};

/// cuBLASLt.
struct ProductLibrary {
  ProductApi api = {};
  int version = 0;   // 130001
  std::string path;  // as the loader found it
};

/// Opened once for the whole program. Errors: one sentence that says what is missing, and what
/// brings it.
const Result<Driver>& driver_library();  // before cuInit(), which takes most of a start's time
const Result<Driver>& driver();          // after it
const Result<Compiler>& compiler();
const Result<ProductLibrary>& product_library();

/// "13.0" of 13000.
std::string version_text(int version);

/// Why a call did not succeed: kOutOfMemory, or kDevice with the driver's name for it; nothing when
/// it did.
Result<void> checked(const Driver& driver, Status status, std::string_view what);

}  // namespace tokamak::cuda
