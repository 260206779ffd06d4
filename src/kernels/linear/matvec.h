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
/// The constants that every product has.
std::vector<Constant> linear_sizes(const Problem& p, uint32_t threads);
/// The text that receives its results two by two, and what it needs to know.
void add_ending(Launch& launch, const Problem& p);

/// Why a variant that loads eight weights at once does not take the matrix, or one for f16.
std::string wide_rows(const Problem& p);
std::string is_f16(const Problem& p);

/// Where an input is bound: see shader_text().
inline uint32_t binding_of(size_t input) {
  return uint32_t(1 + input);
}

/// Rows of workgroups wrap here: a dimension ends at 65535.
inline constexpr uint32_t kRowOfGroups = 32768;

std::string matvec_refuses(const Problem& p, const DeviceInfo& device);
Launch matvec_tree(const Problem& p);
std::string matvec_subgroup_refuses(const Problem& p, const DeviceInfo& device);
Launch matvec_subgroup(const Problem& p);

/// f16 weights loaded as such; the products stay in f32, so the numbers are those of the codec.
std::string matvec_f16_refuses(const Problem& p, const DeviceInfo& device);
Launch matvec_f16_subgroup(const Problem& p);

}  // namespace tokamak
