#include "tune/tune.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "generate/steps/session.h"

namespace tokamak {
namespace {

// Times as long as the best; once may be bad luck.
constexpr double kTooSlow = 2, kFarTooSlow = 8;
constexpr double kUntimed = std::numeric_limits<double>::infinity();

/// One variant on one problem.
struct Candidate {
  const KernelVariant* variant = nullptr;
  Launch launch;
  double best = kUntimed;
  bool dropped = false;
};

/// The launches of one phase that are the same problem.
struct Group {
  std::string text;
  const KernelVariant* before = nullptr;
  std::vector<size_t> steps;
  std::vector<Candidate> candidates;

  bool has_choice() const { return candidates.size() > 1; }
  double best() const { return std::ranges::min_element(candidates, {}, &Candidate::best)->best; }
};

Problem problem_of(const Step& step, uint32_t max_tokens) {
  Problem problem{
      .op = &step.op, .inputs = {}, .outputs = {}, .max_tokens = max_tokens, .cut = step.cut};
  for (const Operand& in : step.inputs) problem.inputs.push_back(in.tensor());
  for (const Operand& out : step.outputs) problem.outputs.push_back(out.tensor());
  return problem;
}

std::vector<Group> groups_of(const Phase& phase, const DeviceInfo& device,
                             const WrongVariants& wrong) {
  std::vector<Group> groups;
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < phase.steps.size(); ++i) {
    const Step& step = phase.steps[i];
    const Problem problem = problem_of(step, phase.max_tokens);
    const auto [entry, is_new] = known.try_emplace(problem_text(problem), groups.size());
    if (is_new) {
      Group& group = groups.emplace_back();
      group.text = entry->first;
      group.before = step.kernel;
      for (const KernelVariant& variant : all_variants()) {
        const bool takes = refusal(variant, problem, device).empty();
        if (!takes || variant.launch == nullptr || wrong.contains(variant.name)) continue;
        group.candidates.push_back(
            {.variant = &variant, .launch = variant.launch(problem, device)});
      }
    }
    groups[entry->second].steps.push_back(i);
  }
  return groups;
}

/// A copy of a phase in which the groups of one op run one of their candidates, so that one that
/// is too slow need not run again.
struct Trial {
  size_t phase = 0;                             // in the plan that is timed
  std::vector<std::pair<size_t, size_t>> runs;  // group, candidate
};

class Tuning {
 public:
  Tuning(Backend& backend, const Plan& plan, const WrongVariants& wrong, const TuneOptions& options)
      : backend_(backend), options_(options), plan_(plan) {
    for (const Phase& phase : plan.phases) {
      const size_t first = groups_.size();
      std::ranges::move(groups_of(phase, backend.device(), wrong), std::back_inserter(groups_));
      add_trial(phase, first, nullptr);
      for (const KernelVariant& variant : all_variants()) add_trial(phase, first, &variant);
    }
  }

  Result<void> run(const TunedPlan& target, const ConstantReader& constants) {
    if (trials_.empty()) return {};
    tell("compiling kernels and loading weights");
    TOK_TRY(const std::unique_ptr<Program> program, backend_.compile(plan_, constants));
    TOK_TRY(Session::start(*program, target.context, target.vocab));  // page tables
    for (uint32_t round = 0; round <= options_.rounds; ++round) {
      for (const Trial& trial : trials_) {
        if (options_.cancelled && options_.cancelled()) {
          return fail(ErrorCode::kCancelled, "Tuning was cancelled.");
        }
        TOK_TRY(time(*program, trial, target.context, round == 0));
      }
      drop_the_slow(round < 2 ? kFarTooSlow : kTooSlow);
      tell(fmt::format("round {} of {}, {} candidates", round, options_.rounds, left()));
    }
    return {};
  }

  std::vector<TunedProblem> problems() const {
    std::vector<TunedProblem> out;
    for (const Group& group : groups_) {
      if (!group.has_choice()) continue;
      TunedProblem problem{.problem = group.text,
                           .before = std::string(group.before->name),
                           .chosen = {},
                           .launches = uint32_t(group.steps.size())};
      for (const Candidate& candidate : group.candidates) {
        (candidate.dropped ? problem.dropped : problem.seconds)
            .emplace(candidate.variant->name, candidate.best);
        // The kernel that selection would take anyway wins where two are equal.
        if (candidate.best == group.best() && problem.chosen.empty()) {
          problem.chosen = candidate.variant->name;
        }
      }
      out.push_back(std::move(problem));
    }
    return out;
  }

 private:
  void tell(const std::string& doing) const {
    if (options_.progress) options_.progress(doing);
  }

  /// The groups from `first` on with `variant` where it is a candidate; null: as they are.
  void add_trial(const Phase& phase, size_t first, const KernelVariant* variant) {
    Trial trial{.phase = plan_.phases.size(), .runs = {}};
    Phase copy = phase;
    copy.name = fmt::format("{}-{}", phase.name, trials_.size());
    for (size_t g = first; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      const KernelVariant* wanted = variant == nullptr ? group.before : variant;
      const auto found = std::ranges::find(group.candidates, wanted, &Candidate::variant);
      const bool repeats = variant == group.before;
      if (!group.has_choice() || found == group.candidates.end() || repeats) continue;
      trial.runs.emplace_back(g, size_t(found - group.candidates.begin()));
      for (const size_t step : group.steps) {
        copy.steps[step].kernel = found->variant;
        copy.steps[step].launch = found->launch;
      }
    }
    if (trial.runs.empty()) return;
    plan_.phases.push_back(std::move(copy));
    trials_.push_back(std::move(trial));
  }

  size_t left() const {
    size_t count = 0;
    for (const Group& group : groups_) {
      if (group.has_choice()) {
        count += size_t(std::ranges::count(group.candidates, false, &Candidate::dropped));
      }
    }
    return count;
  }

  Result<void> time(Program& program, const Trial& trial, uint32_t context, bool warming_up) {
    const bool needed = std::ranges::any_of(trial.runs, [&](const auto& run) {
      return !groups_[run.first].candidates[run.second].dropped;
    });
    if (!needed) return {};
    const uint32_t count = plan_.phases[trial.phase].max_tokens;
    const uint32_t depth = std::min(options_.depth, (context - count) / 2);
    const std::vector<uint32_t> tokens(count, 1);
    const StepRequest request{
        .phase = trial.phase,
        .slots = {{.count = count, .position = depth, .length = depth + count}},
        .tokens = tokens,
        .done = {}};
    TOK_TRY(const std::vector<double> seconds, program.time_launches(request));
    if (warming_up) return {};
    for (const auto& [g, c] : trial.runs) {
      Candidate& candidate = groups_[g].candidates[c];
      if (candidate.dropped) continue;
      double sum = 0;
      for (const size_t step : groups_[g].steps) sum += seconds[step];
      candidate.best = std::min(candidate.best, sum / double(groups_[g].steps.size()));
    }
    return {};
  }

  void drop_the_slow(double times) {
    for (Group& group : groups_) {
      if (!group.has_choice() || group.best() == kUntimed) continue;
      for (Candidate& candidate : group.candidates) {
        candidate.dropped = candidate.dropped || candidate.best > times * group.best();
      }
    }
  }

  Backend& backend_;
  const TuneOptions& options_;
  Plan plan_;  // with a phase more for every trial
  std::vector<Group> groups_;
  std::vector<Trial> trials_;
};

}  // namespace

double TunedProblem::time_of(const std::string& variant) const {
  if (const auto found = seconds.find(variant); found != seconds.end()) return found->second;
  const auto slow = dropped.find(variant);
  return slow == dropped.end() ? 0 : slow->second;
}

Result<std::vector<TunedProblem>> tune_plan(Backend& backend, const TunedPlan& target,
                                            const WrongVariants& wrong,
                                            const ConstantReader& constants,
                                            const TuneOptions& options) {
  Tuning tuning(backend, target.plan, wrong, options);
  TOK_TRY(tuning.run(target, constants));
  return tuning.problems();
}

}  // namespace tokamak
