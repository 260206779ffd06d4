#include "tune/background_self_test.h"

#include <set>
#include <string>

namespace tokamak {
namespace {

bool knows_all(const Verdicts& known, const Plan& plan) {
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      if (!known.contains(program_text(step))) return false;
    }
  }
  return true;
}

}  // namespace

BackgroundSelfTest::BackgroundSelfTest(OpenDevice open, KeptVerdicts kept, Notice notice)
    : open_(std::move(open)), kept_(std::move(kept)), notice_(std::move(notice)) {}

BackgroundSelfTest::~BackgroundSelfTest() {
  is_ending_ = true;
}

WrongVariants BackgroundSelfTest::look_at(const Plan& plan) {
  const Verdicts known = read_verdicts(kept_.read());
  WrongVariants wrong = wrong_variants(plan, known);
  if (wrong.empty() && !knows_all(known, plan)) {
    tests_.push_back(std::make_unique<BackgroundTask>([this, plan] { test(plan); }));
  }
  return wrong;
}

void BackgroundSelfTest::wait() {
  for (const auto& test : tests_) static_cast<void>(test->wait());
}

void BackgroundSelfTest::test(const Plan& plan) {
  // A failure that keeps the test from running is no fault of a kernel: the next start tries again.
  const auto backend = open_();
  if (!backend) return;
  std::set<std::string> said;
  const auto keep = [&](const Verdicts& verdicts) {
    kept_.write(to_json(verdicts));
    for (const auto& [variant, failure] : wrong_variants(plan, verdicts)) {
      if (!notice_ || !said.insert(variant).second) continue;
      notice_(fmt::format(
          "Kernel {} computes wrongly on \"{}\" ({}): what it has been part of so far may be "
          "wrong. The next start does without it.",
          variant, (*backend)->device().name, failure));
    }
    return !is_ending_;
  };
  (void)test_plan(**backend, plan, read_verdicts(kept_.read()), keep);
}

}  // namespace tokamak
