#include "kernels/cpu/variants.h"

#include <vector>

namespace tokamak {

std::span<const KernelVariant> vector_variants() {
  static const std::vector<KernelVariant> all = [] {
    std::vector<KernelVariant> rows;
    for (const std::span<const KernelVariant> family :
         {vector_linear_variants(), vector_attention_variants(), vector_expert_variants(),
          vector_row_variants(), vector_copy_variants(), vector_conv_variants(),
          vector_lora_variants(), vector_head_variants(), vector_latent_variants(),
          vector_recurrence_variants()}) {
      rows.insert(rows.end(), family.begin(), family.end());
    }
    return rows;
  }();
  return all;
}

}  // namespace tokamak
