// A program whose device may be lost: it is made again, and what used it keeps its pointer.
#pragma once
#include <functional>
#include <memory>

#include "backend/backend.h"

namespace tokamak {

class RestorableProgram : public Program {
 public:
  /// Makes the program again from the plan of the lost one, when nothing of that one is left.
  using Make = std::function<Result<std::unique_ptr<Program>>(const Plan& plan, const Error& loss)>;

  /// REQUIRES: `program` is not null.
  RestorableProgram(std::unique_ptr<Program> program, Make make)
      : program_(std::move(program)), make_(std::move(make)) {}

  Result<void> restore(const Error& loss) override;
  /// The same for one who has found the loss elsewhere on the device. The user of this program gets
  /// the error from its next call.
  Result<void> restore_silently(const Error& loss);
  /// Lets go of what is left of the program, whose backend goes: restore() makes it again.
  void forget(const Error& loss);

  const Plan& plan() const override { return program_ ? program_->plan() : plan_; }
  CompileReport report() const override { return program_ ? program_->report() : CompileReport(); }
  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override;
  Result<void> submit(const StepRequest& request) override;
  Result<void> poll() override;
  Result<void> wait_for_result() override;
  Result<void> limit_batches(uint32_t most) override;
  Result<void> wait() override;
  Result<std::vector<double>> time_launches(const StepRequest& request) override;
  Result<std::vector<std::vector<double>>> time_ranks(const StepRequest& request) override;

 private:
  Result<void> make_again(const Error& loss);
  /// The program, or the loss that its user has to get.
  Result<Program*> usable() const;

  std::unique_ptr<Program> program_;  // null: lost, and not yet made again
  Make make_;
  Plan plan_;   // while there is no program
  Error loss_;  // the same, and while it is unreported
  bool loss_unreported_ = false;
};

}  // namespace tokamak
