#include "kernels/norm/half_norms.h"

#include "kernels/library/library.h"
#include "kernels/norm/fused_norm.h"
#include "kernels/norm/norm_add.h"
#include "kernels/norm/rms_norm.h"

namespace tokamak {
namespace {

constexpr KernelVariant kHalfNormsVariants[] = {
    {.name = "fused_norm.wgsl.half_subgroup",
     .op = op_index<FusedNorm>(),
     .needs = kFeatureSubgroups,
     .refuses = rounding_refuses<FusedNorm, true>,
     .launch = norm_variant<fused_norm_launch, true>,
     .rounding = kHalfStep},
    {.name = "fused_norm.wgsl.half",
     .op = op_index<FusedNorm>(),
     .refuses = rounding_refuses<FusedNorm, true>,
     .launch = norm_variant<fused_norm_launch, false>,
     .rounding = kHalfStep},
    {.name = "norm_add.wgsl.half_subgroup",
     .op = op_index<NormAdd>(),
     .needs = kFeatureSubgroups,
     .refuses = rounding_refuses<NormAdd, true>,
     .launch = norm_variant<norm_add_launch, true>,
     .rounding = kHalfStep},
    {.name = "norm_add.wgsl.half",
     .op = op_index<NormAdd>(),
     .refuses = rounding_refuses<NormAdd, true>,
     .launch = norm_variant<norm_add_launch, false>,
     .rounding = kHalfStep},
};

}  // namespace

std::span<const KernelVariant> half_norm_variants() {
  return kHalfNormsVariants;
}

}  // namespace tokamak
