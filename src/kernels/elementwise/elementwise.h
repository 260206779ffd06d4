// Ops that compute each element by itself: add, scale, softcap, clamp, activate, glu, and those
// that copy: columns, gather_columns, first_row and last_row; and mean_rows, which sums columns.
//
//   inputs f32 [T, n], output f32 [T, n]    (columns: [T, count]; first_row, last_row, mean_rows:
//   [O, n]; gather_columns: also order u32[n])
//   scale: also s f32 [1], a factor that the checkpoint holds
//   glu: activation(gate) * up; gelu_tanh as torch's gelu(approximate="tanh"), gelu_erf as its gelu
// Arguments of tanh and exp are clamped on devices, where fast-math would give NaN for large ones.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> elementwise_variants();

/// The activation in f64, for every reference that has one.
double activate(Activation activation, double x);

// Rows of their references (kernels/rows.h).
void scale_row(const CpuCall& call, size_t t);
void clamp_row(const CpuCall& call, size_t t);
void standardize_row(const CpuCall& call, size_t t);
void columns_row(const CpuCall& call, size_t t);
void gather_columns_row(const CpuCall& call, size_t t);

/// The source of `fn activate(x: f32) -> f32`, and the constant that chooses one.
inline constexpr const char* kActivationSource = "elementwise/activate.wgsl";
Constant activation_constant(Activation activation);
}  // namespace tokamak
