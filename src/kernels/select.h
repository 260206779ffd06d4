// Choosing a kernel variant, with reasons.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace tokamak {

/// Every variant of every family; within an op the order is the order of preference.
std::span<const KernelVariant> all_variants();

/// Null when there is none of that name.
const KernelVariant* find_variant(std::string_view name);

/// "" when `variant` can run `problem` on `device`, else the reason.
std::string refusal(const KernelVariant& variant, const Problem& problem, const DeviceInfo& device);

/// Op name -> variant name: what --force sets.
using ForcedVariants = std::map<std::string, std::string, std::less<>>;

struct Selection {
  const KernelVariant* variant = nullptr;
  std::vector<std::string> passed_over;  // "name: reason", in order
};

/// The first variant that takes the problem; kUnsupported naming every reason when none does.
Result<Selection> select_variant(const Problem& problem, const DeviceInfo& device,
                                 const ForcedVariants& forced = {});

}  // namespace tokamak
