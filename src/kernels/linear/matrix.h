// Products of several tokens on the matrix units of subgroups: see linear.h.
#pragma once
#include "kernels/kernel.h"

namespace tokamak {

/// For steps of few tokens, whose matrices have too few rows to busy a device by larger tiles.
std::string narrow_matrix_refuses(const Problem& p, const DeviceInfo& device);
Launch narrow_matrix(const Problem& p, const DeviceInfo& device);
std::string large_matrix_refuses(const Problem& p, const DeviceInfo& device);
Launch large_matrix(const Problem& p, const DeviceInfo&);
std::string small_matrix_refuses(const Problem& p, const DeviceInfo& device);
Launch small_matrix(const Problem& p, const DeviceInfo&);

}  // namespace tokamak
