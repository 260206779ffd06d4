#include "tune/self_test.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <span>

#include "base/background_task.h"

namespace tokamak {
namespace {

/// NaN as one f32 and as two f16.
constexpr uint32_t kNoise = 0x7fc07fc0;
constexpr uint32_t kRowsAfter = 3;

using Results = std::vector<std::vector<float>>;  // one per step

/// One case on one kernel.
struct Job {
  const SelfTestCase* test = nullptr;
  size_t kernel = 0;  // which of what is tested: a kernel, or programs of one
  Plan plan;          // of one phase
  double tolerance = 0;
};

/// The tolerance of a case, and of the kernel's rounding beside it.
double tolerance_of(const SelfTestCase& c, const KernelVariant& variant) {
  return c.tolerance + 3 * variant.rounding;
}

/// All jobs as phases of one plan, so that a device compiles their kernels at the same time and
/// gets all work at once. Names of buffers receive the job's number: "12/w". Phases are little
/// longer than their longest step, whatever their kernels were chosen for: what is bound and what
/// is read back need no more memory, and some rows of noise still lie after all steps.
Plan merged(std::span<const Job> jobs) {
  Plan all;
  all.buffers.push_back({BufferUse::kBatch, 0, {}});
  for (size_t j = 0; j < jobs.size(); ++j) {
    const Plan& plan = jobs[j].plan;
    std::vector<BufferId> place;
    for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
      if (BufferId(i) == plan.batch) {
        place.push_back(all.batch);
        all.buffers[0].bytes = std::max(all.buffers[0].bytes, plan.buffers[i].bytes);
        continue;
      }
      place.push_back(BufferId(all.buffers.size()));
      all.buffers.push_back(plan.buffers[i]);
      all.buffers.back().tensor.name = fmt::format("{}/{}", j, plan.buffers[i].tensor.name);
    }
    Phase phase = plan.phases[0];
    phase.max_tokens =
        std::min(phase.max_tokens, std::ranges::max(jobs[j].test->chunks) + kRowsAfter);
    const auto move = [&](Operand& operand) { operand.buffer = place[uint32_t(operand.buffer)]; };
    for (Step& step : phase.steps) {
      std::for_each(step.inputs.begin(), step.inputs.end(), move);
      std::for_each(step.outputs.begin(), step.outputs.end(), move);
    }
    move(phase.result);
    all.phases.push_back(std::move(phase));
  }
  return all;
}

/// "12/w" -> (12, "w")
std::pair<size_t, std::string> parse_name(const std::string& name) {
  const size_t slash = name.find('/');
  size_t job = 0;
  for (const char digit : name.substr(0, slash)) job = 10 * job + size_t(digit - '0');
  return {job, name.substr(slash + 1)};
}

/// How many bytes a step may touch of each buffer that kernels write.
std::vector<uint64_t> touched_bytes(const Plan& plan) {
  std::vector<uint64_t> bytes(plan.buffers.size());
  for (const Phase& phase : plan.phases) {
    const auto touch = [&](const Operand& operand) {
      if (!is_written_by_device(plan.at(operand.buffer).use)) return;
      uint64_t& most = bytes[uint32_t(operand.buffer)];
      most = std::max(most, bound_bytes(plan, operand, phase));
    };
    for (const Step& step : phase.steps) {
      std::ranges::for_each(step.inputs, touch);
      std::ranges::for_each(step.outputs, touch);
    }
  }
  return bytes;
}

/// Writes the tables, and noise wherever a step will read or write.
Result<void> fill(Program& program, std::span<const Job> jobs) {
  const Plan& plan = program.plan();
  const std::vector<uint64_t> touched = touched_bytes(plan);
  const std::vector<uint32_t> noise(size_t(std::ranges::max(touched) / 4), kNoise);
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.use == BufferUse::kTable) {
      const auto [job, name] = parse_name(buffer.tensor.name);
      TOK_TRY(program.write_table(BufferId(i), jobs[job].test->pages));
    } else if (is_written_by_device(buffer.use)) {
      TOK_TRY(program.write_table(BufferId(i), std::span(noise).first(size_t(touched[i] / 4))));
    }
  }
  return {};
}

/// Steps in flight at once: each has memory of its own for its result, which takes a driver a
/// millisecond to make.
constexpr size_t kInFlight = 3;

/// The results of every job.
Result<std::vector<Results>> run(std::span<const Job> jobs, Backend& backend,
                                 CompileReport* compiled = nullptr) {
  TOK_TRY(
      const std::unique_ptr<Program> program,
      backend.compile(merged(jobs), [&](const TensorDesc& tensor, Share share, const auto& write) {
        const auto [job, name] = parse_name(tensor.name);
        return write_whole(jobs[job].test->constants.at(name)(), share, write);
      }));
  if (compiled != nullptr) *compiled = program->report();
  TOK_TRY(fill(*program, jobs));
  std::vector<Results> results(jobs.size());
  std::optional<Error> error;
  size_t in_flight = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    Slot slot = {.rule = {.masked = 1}, .adapter = 1};  // by the noise's bits
    for (const uint32_t chunk : jobs[j].test->chunks) {
      std::vector<uint32_t> tokens(chunk);
      for (uint32_t i = 0; i < chunk; ++i) tokens[i] = (i * 5 + 3) % 17;
      slot.count = chunk;
      while (in_flight >= kInFlight) TOK_TRY(program->wait_for_result());
      ++in_flight;
      TOK_TRY(program->submit({.phase = j,
                               .slots = {slot},
                               .tokens = tokens,
                               .done = [&, j](Result<std::span<const float>> rows) {
                                 --in_flight;
                                 if (rows) {
                                   results[j].emplace_back(rows->begin(), rows->end());
                                 } else {
                                   error = rows.error();
                                 }
                               }}));
      slot.position += chunk;
    }
  }
  TOK_TRY(program->wait());
  if (error) return Failure(*std::move(error));
  return results;
}

/// "" when `have` is within `tolerance` of `want`, else the first element that is not.
std::string difference(double tolerance, const Results& want, const Results& have) {
  if (want.size() != have.size()) return fmt::format("{} of {} results", have.size(), want.size());
  for (size_t step = 0; step < want.size(); ++step) {
    double largest = 0;
    for (const float value : want[step]) largest = std::max(largest, std::abs(double(value)));
    for (size_t i = 0; i < want[step].size(); ++i) {
      // Written so that NaN is a difference.
      if (std::abs(double(want[step][i]) - double(have[step][i])) <= tolerance * largest) continue;
      return fmt::format("element {} of step {} is {}, expected {} within {:.0e} of {}", i, step,
                         have[step][i], want[step][i], tolerance, largest);
    }
  }
  return "";
}

Result<Plan> plan_for(const SelfTestCase& c, const DeviceInfo& device, ForcedVariants forced) {
  return capture(c.graph, device,
                 {.phases = {{"self-test", c.max_tokens}}, .forced = std::move(forced)});
}

/// The step of one variant on a case. Errors: a shape of another variant.
Result<Plan> plan_on(const SelfTestCase& c, const KernelVariant& variant,
                     const DeviceInfo& device) {
  return plan_for(c, device, {{std::string(op_name_at(variant.op)), std::string(variant.name)}});
}

/// The cases that each kernel of the device can run.
std::vector<Job> make_jobs(const DeviceInfo& device, SelfTest& out) {
  std::vector<Job> jobs;
  for (const KernelVariant& variant : all_variants()) {
    if (variant.backend != device.backend) continue;
    KernelCheck& check = out.kernels.emplace_back();
    check.kernel = variant.name;
    const Features missing = variant.needs & ~device.features;
    if (missing != 0) {
      check.skipped = fmt::format("the device lacks {}", features_text(missing));
      continue;
    }
    for (const SelfTestCase& c : self_test_cases()) {
      if (c.op != op_name_at(variant.op)) continue;
      auto plan = plan_on(c, variant, device);
      if (!plan) continue;
      jobs.push_back({&c, out.kernels.size() - 1, *std::move(plan), tolerance_of(c, variant)});
      ++check.cases;
    }
    if (check.cases == 0) check.skipped = "no shape fits it within the device's limits";
  }
  return jobs;
}

/// The references of the cases of `tested`.
Result<std::map<const SelfTestCase*, Results>> references(std::span<const Job> tested) {
  const std::unique_ptr<Backend> cpu = make_cpu_backend();
  std::set<const SelfTestCase*> cases;
  for (const Job& job : tested) cases.insert(job.test);
  std::vector<Job> jobs;
  for (const SelfTestCase* c : cases) {
    TOK_TRY(Plan plan, plan_for(*c, cpu->device(), {}));
    jobs.push_back({c, 0, std::move(plan)});
  }
  TOK_TRY(std::vector<Results> results, run(jobs, *cpu));
  std::map<const SelfTestCase*, Results> out;
  for (size_t j = 0; j < jobs.size(); ++j) out[jobs[j].test] = std::move(results[j]);
  return out;
}

/// Whether the error is one of the kernel, and not of the device that ran it.
bool is_about_kernel(const Error& error) {
  return error.code != ErrorCode::kDeviceLost && error.code != ErrorCode::kOutOfMemory;
}

void add(CompileReport& sum, const CompileReport& one) {
  sum.pipelines += one.pipelines;
  sum.cached += one.cached;
  sum.compile_seconds += one.compile_seconds;
  sum.load_seconds += one.load_seconds;
  if (sum.cache_problem.empty()) sum.cache_problem = one.cache_problem;
}

/// REQUIRES, here and below: the jobs of one kernel follow one another.
size_t kernels_of(std::span<const Job> jobs) {
  size_t count = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    if (j == 0 || jobs[j].kernel != jobs[j - 1].kernel) ++count;
  }
  return count;
}

/// The jobs of the first `count` kernels.
std::span<const Job> first_kernels(std::span<const Job> jobs, size_t count) {
  size_t end = 0;
  while (end < jobs.size() && kernels_of(jobs.first(end + 1)) <= count) ++end;
  return jobs.first(end);
}

/// Runs like run(), a few kernels at a time, so that there is progress to report.
Result<std::vector<Results>> run_with_progress(std::span<const Job> jobs, Backend& backend,
                                               CompileReport& compiled,
                                               const SelfTestProgress& progress) {
  // A GPU's driver compiles on all cores of the host and is soon done with that many; a software
  // device takes seconds for one.
  const size_t at_once = backend.device().software ? 1 : 16;
  const size_t count = kernels_of(jobs);
  std::vector<Results> all;
  for (size_t kernel = 1; !jobs.empty(); kernel += at_once) {
    progress(kernel, count);
    const std::span<const Job> group = first_kernels(jobs, at_once);
    CompileReport own;
    TOK_TRY(std::vector<Results> results, run(group, backend, &own));
    add(compiled, own);
    std::ranges::move(results, std::back_inserter(all));
    jobs = jobs.subspan(group.size());
  }
  return all;
}

/// Runs the jobs and tells `judge` of each what is wrong, "" when nothing is.
Result<void> run_and_judge(std::span<const Job> jobs, Backend& backend, CompileReport* compiled,
                           const SelfTestProgress& progress,
                           const std::function<void(const Job&, const std::string&)>& judge) {
  std::optional<Result<std::map<const SelfTestCase*, Results>>> made;
  BackgroundTask reference([&] { made = references(jobs); });
  const auto all = progress ? run_with_progress(jobs, backend, *compiled, progress)
                            : run(jobs, backend, compiled);
  TOK_TRY(reference.wait());
  TOK_TRY(const auto expected, *std::move(made));
  if (all) {
    for (size_t j = 0; j < jobs.size(); ++j) {
      judge(jobs[j], difference(jobs[j].tolerance, expected.at(jobs[j].test), (*all)[j]));
    }
    return {};
  }
  // One at a time, to see which kernel it is that the device refuses.
  size_t refused = 0;
  const size_t count = kernels_of(jobs);
  for (const Job& job : jobs) {
    if (progress) progress(kernels_of(jobs.first(size_t(&job - jobs.data()) + 1)), count);
    const auto one = run({&job, 1}, backend);
    if (!one && !is_about_kernel(one.error())) return Failure(one.error());
    refused += one ? 0 : 1;
    judge(job, one ? difference(job.tolerance, expected.at(job.test), one->front())
                   : one.error().message);
  }
  // One that refuses all kernels does not work; one that refuses the only one may do so for cause.
  const bool are_several = jobs.front().kernel != jobs.back().kernel;
  if (refused == jobs.size() && are_several) return Failure(all.error());
  return {};
}

/// One variant: what a job of test_plan() is about.
using Programs = std::vector<std::string>;

/// Cases for the programs that `plan` runs and `known` does not: one in steps of one token, one in
/// larger steps, as `plan` has them. What no case runs is judged by one that runs its variant, if
/// any does. `about` receives the programs of each job, and those without a case.
std::vector<Job> jobs_for(const Plan& plan, const DeviceInfo& device, const Verdicts& known,
                          std::vector<Programs>& about) {
  std::map<const KernelVariant*, std::set<std::pair<std::string, bool>>> wanted;
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      std::string program = program_text(step);
      if (known.contains(program)) continue;
      wanted[step.kernel].emplace(std::move(program), phase.max_tokens == 1);
    }
  }
  std::vector<Job> jobs;
  for (auto& [variant, missing] : wanted) {
    const auto add = [&](const SelfTestCase& c, Plan own) {
      jobs.push_back({&c, about.size(), std::move(own), tolerance_of(c, *variant)});
    };
    const SelfTestCase* similar = nullptr;
    std::set<std::string> tested;
    for (const SelfTestCase& c : self_test_cases()) {
      if (c.op != op_name_at(variant->op) || missing.empty()) continue;
      auto own = plan_on(c, *variant, device);
      if (!own) continue;
      if (similar == nullptr) similar = &c;
      Programs programs;
      for (const Step& step : own->phases[0].steps) {
        const auto found = missing.extract({program_text(step), c.max_tokens == 1});
        if (!found.empty()) programs.push_back(found.value().first);
      }
      if (programs.empty()) continue;
      tested.insert(programs.begin(), programs.end());
      add(c, *std::move(own));
      about.push_back(std::move(programs));
    }
    std::set<std::string> others;
    for (const auto& [program, is_one] : missing) {
      if (!tested.contains(program)) others.insert(program);
    }
    if (others.empty()) continue;
    if (similar != nullptr) add(*similar, *plan_on(*similar, *variant, device));
    about.emplace_back(others.begin(), others.end());
  }
  return jobs;
}

}  // namespace

size_t SelfTest::passed() const {
  return kernels.size() - failed() - skipped();
}

size_t SelfTest::failed() const {
  return size_t(std::count_if(kernels.begin(), kernels.end(),
                              [](const KernelCheck& check) { return !check.failure.empty(); }));
}

size_t SelfTest::skipped() const {
  return size_t(std::count_if(kernels.begin(), kernels.end(),
                              [](const KernelCheck& check) { return !check.skipped.empty(); }));
}

Result<SelfTest> self_test(Backend& backend, const std::function<double()>& clock,
                           const SelfTestProgress& progress) {
  const double start = clock();
  SelfTest out;
  const std::vector<Job> jobs = make_jobs(backend.device(), out);
  const auto judge = [&](const Job& job, const std::string& wrong) {
    std::string& failure = out.kernels[job.kernel].failure;
    if (failure.empty() && !wrong.empty()) failure = fmt::format("{}: {}", job.test->name, wrong);
  };
  TOK_TRY(run_and_judge(jobs, backend, &out.compiled, progress, judge));
  out.seconds = clock() - start;
  return out;
}

std::string program_text(const Step& step) {
  std::string text(step.kernel->name);
  for (const std::string& source : step.launch.sources) text += ' ' + source;
  return text;
}

Result<Verdicts> test_plan(Backend& backend, const Plan& plan, Verdicts known,
                           const std::function<bool(const Verdicts&)>& continues) {
  std::vector<Programs> about;
  const std::vector<Job> jobs = jobs_for(plan, backend.device(), known, about);
  const auto judge = [&](const Job& job, const std::string& wrong) {
    for (const std::string& program : about[job.kernel]) {
      std::string& failure = known[program];
      if (failure.empty() && !wrong.empty()) failure = fmt::format("{}: {}", job.test->name, wrong);
    }
  };
  for (std::span<const Job> rest = jobs; !rest.empty();) {
    const std::span<const Job> group = continues ? first_kernels(rest, 1) : rest;
    TOK_TRY(run_and_judge(group, backend, nullptr, {}, judge));
    rest = rest.subspan(group.size());
    if (continues && !continues(known)) return known;
  }
  for (const std::string& program : about | std::views::join) known[program];
  return known;
}

WrongVariants wrong_variants(const Plan& plan, const Verdicts& verdicts) {
  WrongVariants wrong;
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      const auto verdict = verdicts.find(program_text(step));
      if (verdict == verdicts.end() || verdict->second.empty()) continue;
      wrong.emplace(step.kernel->name, verdict->second);
    }
  }
  return wrong;
}

}  // namespace tokamak
