// Kernels of processors with vectors, as rows of the variant tables: they stand in front of the
// references, which take whatever these refuse. An op has the same contract and the same ending in
// both; see the header of its family.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// Every row; none where the build has no vectors.
std::span<const KernelVariant> vector_variants();

std::span<const KernelVariant> vector_linear_variants();
std::span<const KernelVariant> vector_attention_variants();
std::span<const KernelVariant> vector_expert_variants();
std::span<const KernelVariant> vector_row_variants();
std::span<const KernelVariant> vector_copy_variants();
std::span<const KernelVariant> vector_conv_variants();
std::span<const KernelVariant> vector_lora_variants();
std::span<const KernelVariant> vector_head_variants();
std::span<const KernelVariant> vector_latent_variants();
std::span<const KernelVariant> vector_recurrence_variants();

/// A row of the tables for vectors.
template <typename T>
constexpr KernelVariant vector_row(std::string_view name, void (*run)(const CpuCall&),
                                   double rounding = 0) {
  return {.name = name,
          .op = op_index<T>(),
          .backend = BackendKind::kCpu,
          .needs = kFeatureVectors,
          .run = run,
          .rounding = rounding};
}

/// A row of the tables that does not take every problem.
constexpr KernelVariant with_refusal(KernelVariant row,
                                     std::string (*refuses)(const Problem&, const DeviceInfo&)) {
  row.refuses = refuses;
  return row;
}

/// Why a row that rounds nothing does not take a product: packed matrices are multiplied by words.
std::string refuses_exact(const Problem& problem, const DeviceInfo& device);

/// A row that rounds nothing, of the same function as the row in front of it: matrices whose rows
/// all round nothing are multiplied as f32 (PanelLayout::is_exact).
template <typename T>
constexpr KernelVariant exact_row(std::string_view name, void (*run)(const CpuCall&)) {
  return with_refusal(vector_row<T>(name, run), refuses_exact);
}

/// The error of an f32 that becomes a multiple of 1/32767 of the largest of its block, which is
/// some four times as large as it is itself.
inline constexpr double kWordRounding = 4 * 0.5 / 32767;

}  // namespace tokamak
