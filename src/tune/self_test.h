// The self-test of `tokamak doctor`: every kernel that a device can run, on small awkward shapes,
// against the CPU reference. States and activations hold NaN before each run, so that what a kernel
// should have written and did not shows.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "kernels/select.h"

namespace tokamak {

/// One graph, what it reads, and the steps to run.
struct SelfTestCase {
  std::string name;
  std::string_view op;  // of graph/ops.h: the op that the case is about
  Graph graph;
  /// Make a constant's bytes, the same ones every time: few of the cases are run.
  std::map<std::string, std::function<std::vector<std::byte>()>> constants;
  std::vector<uint32_t> pages;  // the page table, for cases that have a cache
  uint32_t max_tokens = 1;
  std::vector<uint32_t> chunks;  // tokens of each step, one after the other
  double tolerance = 0;          // of the largest magnitude in the step's result
};

/// For every op at least one case in steps of one token and one in larger steps.
const std::vector<SelfTestCase>& self_test_cases();

struct KernelCheck {
  std::string_view kernel;
  uint32_t cases = 0;
  std::string failure;  // "": right; or the first case that went wrong, and how
  std::string skipped;  // why the device cannot run it
};

struct SelfTest {
  std::vector<KernelCheck> kernels;
  CompileReport compiled;
  double seconds = 0;

  size_t passed() const;
  size_t failed() const;
  size_t skipped() const;
};

/// Called before a kernel is compiled and run: which one it is, from 1, of how many that the device
/// can run.
using SelfTestProgress = std::function<void(size_t kernel, size_t kernels)>;

/// All kernels of the backend's kind. The reference itself passes without being run. An error only
/// when the device is lost or out of memory.
Result<SelfTest> self_test(Backend& backend, const std::function<double()>& clock,
                           const SelfTestProgress& progress = {});

/// The program of a step but for its sizes: "linear.wgsl.any linear/any.wgsl quant/bf16.wgsl ...".
std::string program_text(const Step& step);

/// program_text() -> "" when it computed rightly, else what showed that it does not.
using Verdicts = std::map<std::string, std::string, std::less<>>;

/// Tests the programs that `plan` runs and `known` says nothing of, each on one case in steps of
/// one token and one in larger steps, as far as `plan` has them, and gives `known` with the new
/// verdicts; one for which there is no case counts as right. With `goes_on` they are tested one
/// variant after another: it is called after each, with the verdicts so far, and says whether to go
/// on. An error only when the device is lost or out of memory.
Result<Verdicts> test_plan(Backend& backend, const Plan& plan, Verdicts known,
                           const std::function<bool(const Verdicts&)>& continues = {});

/// The variants of `plan` that a verdict says are wrong.
WrongVariants wrong_variants(const Plan& plan, const Verdicts& verdicts);

}  // namespace tokamak
