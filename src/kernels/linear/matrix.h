// Products of several tokens on the matrix units of subgroups: see linear.h.
#pragma once
#include "kernels/kernel.h"

namespace tokamak {

/// For steps of up to 64 tokens.
std::string narrow_matrix_refuses(const Problem& p, const DeviceInfo& device);
Launch narrow_matrix(const Problem& p, const DeviceInfo& device);
std::string large_matrix_refuses(const Problem& p, const DeviceInfo& device);
Launch large_matrix(const Problem& p, const DeviceInfo& device);
std::string small_matrix_refuses(const Problem& p, const DeviceInfo& device);
Launch small_matrix(const Problem& p, const DeviceInfo&);

}  // namespace tokamak
