// The self-test beside the work of the kernels that it tests, where a device takes long to compile
// one: a software driver needs a second for each, which the first token should not wait for.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/background_task.h"
#include "tune/kept_verdicts.h"

namespace tokamak {

class BackgroundSelfTest {
 public:
  using OpenDevice = std::function<Result<std::unique_ptr<Backend>>()>;
  using Notice = std::function<void(std::string_view)>;
  /// `open` gives a device like the one that the plans run on, for this test alone. `notice` hears
  /// of a kernel that turns out to be wrong while it runs. Both are called on another thread.
  BackgroundSelfTest(OpenDevice open, KeptVerdicts kept, Notice notice);
  BackgroundSelfTest(const BackgroundSelfTest&) = delete;
  /// Ends the tests after the kernels that are at hand; the next start goes on with the others.
  ~BackgroundSelfTest();

  /// The variants of `plan` that are known to be wrong. Where there are none it begins to test
  /// those of which nothing is known, one after another, and keeps each verdict as it comes.
  WrongVariants look_at(const Plan& plan);
  /// Returns when all tests have ended.
  void wait();

 private:
  void test(const Plan& plan);

  OpenDevice open_;
  KeptVerdicts kept_;
  Notice notice_;
  std::atomic<bool> is_ending_ = false;
  std::vector<std::unique_ptr<BackgroundTask>> tests_;
};

}  // namespace tokamak
