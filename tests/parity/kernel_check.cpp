#include "kernel_check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/environment.h"
#include "cases.h"
#include "kernels/launch.h"
#include "known_results.h"

namespace tokamak::parity {
namespace {

/// The cases of an op, made once for its variants, which are neighbours.
const std::vector<Case>& known_cases(const std::string& op) {
  static std::string last;
  static std::vector<Case> cases;
  if (op != last) {
    cases = cases_of(op);
    last = op;
  }
  return cases;
}

/// References, computed once for all variants of an op.
const Run& reference(const Case& c) {
  static const std::unique_ptr<Backend> cpu = make_cpu_backend();
  static std::map<std::string, Run> known;
  const auto [entry, is_new] = known.try_emplace(c.name);
  if (is_new) entry->second = run(c, *cpu);
  return entry->second;
}

KnownResults& known_results() {
  static KnownResults known;
  return known;
}

struct Summary : testing::Environment {
  void TearDown() override {
    const KnownResults& known = known_results();
    fmt::print("parity: {} cases computed, {} known to be right from an earlier run\n",
               known.computed(), known.known());
  }
};
[[maybe_unused]] const auto* const g_summary = testing::AddGlobalTestEnvironment(new Summary);

/// A case that a variant takes, with the plan for it.
struct Taken {
  Case c;
  Plan plan;
};

/// How much there is to compute, about: values of all constants, once a token.
uint64_t work_of(const Case& c) {
  uint64_t bytes = 0, tokens = 0;
  for (const auto& [name, content] : c.constants) bytes += content.size();
  for (const uint32_t chunk : c.steps.chunks) tokens += chunk;
  return bytes * tokens;
}

/// The cases of `taken` that this run computes. TOKAMAK_PARITY=smallest: the one with the least
/// work alone; TOKAMAK_PARITY_EVERY=n: every n-th; all of them otherwise.
std::vector<Taken> chosen_of(std::vector<Taken> taken) {
  std::vector<Taken> chosen;
  if (taken.empty()) return chosen;
  if (environment_variable("TOKAMAK_PARITY") == "smallest") {
    chosen.push_back(std::move(
        *std::ranges::min_element(taken, {}, [](const Taken& one) { return work_of(one.c); })));
    return chosen;
  }
  const std::string every = environment_variable("TOKAMAK_PARITY_EVERY");
  const size_t stride = every.empty() ? 1 : std::stoul(every);
  for (size_t i = 0; i < taken.size(); i += stride) chosen.push_back(std::move(taken[i]));
  return chosen;
}

}  // namespace

std::vector<const KernelVariant*> variants_for(BackendKind backend) {
  std::vector<const KernelVariant*> found;
  for (const KernelVariant& variant : all_variants()) {
    if (variant.backend == backend) found.push_back(&variant);
  }
  return found;
}

std::string test_name(const testing::TestParamInfo<const KernelVariant*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

void check(const KernelVariant& variant, Backend& backend) {
  const std::string op(op_name_at(variant.op));
  const ForcedVariants forced = {{op, std::string(variant.name)}};
  std::vector<Taken> taken;
  std::string refusal;
  for (Case c : known_cases(op)) {
    auto plan = plan_of(c, backend, forced);
    if (!plan) {  // another variant's shape
      refusal = plan.error().message;
      continue;
    }
    c.tolerance += 3 * variant.rounding;
    taken.push_back({std::move(c), *std::move(plan)});
  }
  // Known results are those of texts, by what they say; a processor's kernels have none.
  const bool has_text = backend.device().backend != BackendKind::kCpu;
  size_t compared = 0;
  for (Taken& one : chosen_of(std::move(taken))) {
    ++compared;
    const Run& expected = reference(one.c);
    if (!has_text) {
      expect_close(one.c, expected, run(one.c, backend, std::move(one.plan)));
      continue;
    }
    const std::string key = key_of(one.c, one.plan, backend.device(), expected);
    if (known_results().has(key)) continue;
    expect_close(one.c, expected, run(one.c, backend, std::move(one.plan)));
    if (!testing::Test::HasFailure()) known_results().add(key);
  }
  if (compared == 0 && refusal.find(kNotSoftware) != std::string::npos) GTEST_SKIP() << refusal;
  const uint32_t lanes = backend.device().subgroup_min;
  if (compared == 0 && (variant.needs & kFeatureSubgroups) != 0 && lanes < 32) {
    GTEST_SKIP() << variant.name << " takes none of the cases where subgroups have " << lanes
                 << " lanes";
  }
  EXPECT_GT(compared, 0u) << variant.name << " takes none of the cases";
  testing::Test::RecordProperty("cases", int(compared));
}

}  // namespace tokamak::parity
