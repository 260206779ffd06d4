// Chooses a kernel variant, with reasons.
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

/// Op name -> names of variants, in the order given: what --force sets.
using ForcedVariants = std::multimap<std::string, std::string, std::less<>>;

/// That there are such ops and that they have such variants; kUsage says what there is instead.
Result<void> check_variants(const ForcedVariants& variants);

/// The fastest of the variants that `tokamak tune` has timed on a problem.
struct TunedVariant {
  std::string name;
  std::map<std::string, double, std::less<>> seconds;  // of each variant that was timed
};

/// Variant -> what shows that it computes wrongly.
using WrongVariants = std::map<std::string, std::string, std::less<>>;

/// The facts about variants beside their tables.
struct VariantAdvice {
  /// A model's wishes: taken before others where they take the problem.
  ForcedVariants preferred = {};
  /// problem_text() -> the fastest; after the model's wishes.
  std::map<std::string, TunedVariant, std::less<>> tuned = {};
  /// On this device: never taken.
  WrongVariants wrong = {};
  /// Variants that round what the reference takes as it is (KernelVariant::rounding) are not taken.
  bool exact = false;
};

/// "linear f32[T,64] bf16[96,64] -> f32[T,96] in steps of 512": equal for equal problems.
std::string problem_text(const Problem& problem);

struct Selection {
  const KernelVariant* variant = nullptr;
  std::vector<std::string> passed_over;  // "name: reason", in order
};

/// The variant for a problem: where its op is in `forced`, the first of those that takes it; else
/// what `advice` favours; else the first of the table that takes it. kUnsupported naming every
/// reason when none does.
Result<Selection> select_variant(const Problem& problem, const DeviceInfo& device,
                                 const ForcedVariants& forced = {},
                                 const VariantAdvice& advice = {});

}  // namespace tokamak
