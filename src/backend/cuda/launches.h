// The launches of a plan: what of them does not change from step to step.
#pragma once
#include <span>
#include <vector>

#include "backend/cuda/buffers.h"
#include "backend/cuda/modules.h"
#include "backend/cuda/products.h"

namespace tokamak::cuda {

/// Mirrors Bound of kernels/cuda/device.cuh.
struct Bound {
  DevicePointer at[32] = {};
  uint32_t bytes[32] = {};
};

/// A product of the library: of x by `rows` rows of `columns` weights.
struct LibraryCall {
  Products* library = nullptr;  // null: a kernel is launched
  uint32_t rows = 0, columns = 0;
  NumberType type = NumberType::kBf16;
  bool is_rounded = false;
  Products::Addresses at;
};

struct PreparedLaunch {
  Kernel kernel;
  Grid grid;
  bool for_outputs = false;
  Bound bound;
  LibraryCall call;
};

/// How many workgroups a launch has in a step of that size.
struct Workgroups {
  uint32_t x = 1, y = 1, z = 1;
};
Workgroups workgroups_of(const PreparedLaunch& launch, const BatchSize& batch);

/// The binding number from which on a launch has what ranks share: its own meeting, the first input
/// of every rank, the meeting of each.
size_t first_of_ranks(const Step& step);

/// [phase][step]; `meeting` of a rank that is alone, as those are that connect() did not join.
/// `products` may be null where no step calls the library.
std::vector<std::vector<PreparedLaunch>> prepare_launches(const Plan& plan, const Buffers& buffers,
                                                          const Compiled& compiled,
                                                          const Modules& modules,
                                                          Products* products,
                                                          DevicePointer meeting);

/// Puts the launches onto the device's stream, for a step of that size.
Result<void> launch(CudaDevice& device, std::span<const PreparedLaunch> launches,
                    const BatchSize& batch);

}  // namespace tokamak::cuda
