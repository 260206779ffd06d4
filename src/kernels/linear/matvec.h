// What the products share, and the launches of the matrix-vector products: see linear.h.
#pragma once
#include "kernels/launch.h"

namespace tokamak {

/// Columns of the matrix.
uint32_t in_size(const Problem& p);
/// Rows of the matrix at hand, of which there may be more in other buffers.
uint32_t row_count(const Problem& p);
/// T of the product: 1 when x is a single row, whatever the step's tokens.
bool per_token(const Problem& p);
/// The constants that every product has, and the texts that receive its results.
std::vector<Constant> linear_sizes(const Problem& p, uint32_t threads);
std::vector<std::string> linear_ending(const Problem& p);

/// Rows of workgroups wrap here: a dimension ends at 65535.
inline constexpr uint32_t kRowOfGroups = 32768;

std::string matvec_refuses(const Problem& p, const DeviceInfo& device);
Launch matvec_tree(const Problem& p);
Launch matvec_subgroup(const Problem& p);

/// f16 weights loaded as such; the products stay in f32, so the numbers are those of the codec.
std::string matvec_f16_refuses(const Problem& p, const DeviceInfo& device);
Launch matvec_f16_subgroup(const Problem& p);

}  // namespace tokamak
