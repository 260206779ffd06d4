#include "kernels/cuda/variants.h"

#include <deque>
#include <string>

namespace tokamak {
namespace {

constexpr std::string_view kWgsl = ".wgsl";

/// Rows point to their names, which live as long as the program.
std::string_view kept(std::string name) {
  static std::deque<std::string> names;
  return names.emplace_back(std::move(name));
}

}  // namespace

std::vector<KernelVariant> cuda_variants(std::span<const KernelVariant> webgpu) {
  std::vector<KernelVariant> rows;
  for (const KernelVariant& variant : webgpu) {
    if (variant.backend != BackendKind::kWebGpu || variant.name.ends_with("software")) continue;
    KernelVariant& own = rows.emplace_back(variant);
    std::string name(variant.name);
    own.name = kept(name.replace(name.find(kWgsl), kWgsl.size(), ".cuda"));
    own.backend = BackendKind::kCuda;
  }
  return rows;
}

}  // namespace tokamak
