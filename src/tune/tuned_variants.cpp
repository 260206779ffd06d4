// The results of tuning, for selection and for files.
#include "tune/tune.h"

namespace tokamak {

TunedVariants tuned_variants(const std::vector<TunedProblem>& problems) {
  TunedVariants out;
  for (const TunedProblem& problem : problems) {
    TunedVariant tuned{.name = problem.chosen, .seconds = problem.seconds};
    tuned.seconds.insert(problem.dropped.begin(), problem.dropped.end());
    out.insert_or_assign(problem.problem, std::move(tuned));
  }
  return out;
}

Json to_json(const TunedVariants& tuned) {
  Json out{Json::Object{}};
  for (const auto& [problem, variant] : tuned) {
    Json entry, seconds{Json::Object{}};
    for (const auto& [name, time] : variant.seconds) seconds.set(name, time);
    out.set(problem, entry.set("variant", variant.name).set("seconds", std::move(seconds)));
  }
  return out;
}

TunedVariants read_tuned(const Json& cache) {
  TunedVariants out;
  if (!cache.is_object()) return out;
  for (const auto& [problem, entry] : cache.as_object()) {
    const Json *name = entry.find("variant"), *seconds = entry.find("seconds");
    if (name == nullptr || !name->is_string() || seconds == nullptr || !seconds->is_object()) {
      continue;
    }
    TunedVariant tuned{.name = name->as_string(), .seconds = {}};
    for (const auto& [variant, time] : seconds->as_object()) {
      if (time.is_number()) tuned.seconds.emplace(variant, time.as_number());
    }
    out.insert_or_assign(problem, std::move(tuned));
  }
  return out;
}

}  // namespace tokamak
