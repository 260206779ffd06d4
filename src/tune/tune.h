// `tokamak tune`: which of the variants that take a problem is the fastest on this device.
//
// Timed in the model's own step, with its own weights: every launch runs in the plan where it will
// run later, so that no weight is found in a cache that a real step would not have it in. Each
// round runs the step as it is and once with every other variant that is still in the running, for
// all problems that it takes at the same time. What counts is the least time of a variant over the
// rounds; one that takes twice as long as the best is out after its second.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/json.h"
#include "kernels/select.h"

namespace tokamak {

struct TuneOptions {
  uint32_t depth = 512;  // positions before the step, at most half of the context
  uint32_t rounds = 7;   // after one that warms up
  std::function<bool()> cancelled;
  std::function<void(const std::string& doing)> progress;
};

struct TunedProblem {
  std::string problem;         // problem_text()
  std::string before, chosen;  // variants: without tuning, with it
  uint32_t launches = 0;       // in a step
  /// The seconds of one launch by variant, for those timed to the end and for those that were out.
  std::map<std::string, double, std::less<>> seconds = {}, dropped = {};

  /// 0 when the variant was not timed.
  double time_of(const std::string& variant) const;
};

using TunedVariants = decltype(VariantAdvice::tuned);
/// The variants for selection.
TunedVariants tuned_variants(const std::vector<TunedProblem>& problems);

Json to_json(const TunedVariants& tuned);
/// Entries that are not as to_json() writes them are left out.
TunedVariants read_tuned(const Json& cache);

/// A plan to tune, the positions it was built for and its vocabulary.
struct TunedPlan {
  const Plan& plan;
  uint32_t context = 0, vocab = 0;
};

/// Times the problems of the plan that more than one variant takes. `constants` gives the weights;
/// `wrong` are left out. Errors: a device without timestamps, kCancelled.
Result<std::vector<TunedProblem>> tune_plan(Backend& backend, const TunedPlan& target,
                                            const WrongVariants& wrong,
                                            const ConstantReader& constants,
                                            const TuneOptions& options);

}  // namespace tokamak
