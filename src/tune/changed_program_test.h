// A program that computes wrongly, for the tests of this folder: another one's results, changed.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "backend/backend.h"

namespace tokamak {

class ChangedProgram : public Program {
 public:
  /// The number that is added to the last one of a phase's result.
  using Change = std::function<float(const Phase&)>;

  /// `plan` is the one that it shows; its phases are those of `right`.
  ChangedProgram(std::unique_ptr<Program> right, Plan plan, Change change)
      : right_(std::move(right)), plan_(std::move(plan)), change_(std::move(change)) {}

  const Plan& plan() const override { return plan_; }
  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override {
    return right_->write_table(buffer, values, first);
  }
  Result<void> submit(const StepRequest& request) override {
    const float change = change_(plan_.phases[request.phase]);
    if (change == 0 || !request.done) return right_->submit(request);
    StepRequest changed = request;
    changed.done = [&](Result<std::span<const float>> rows) {
      std::vector<float> copy(rows->begin(), rows->end());
      copy.back() += change;
      request.done(std::span<const float>(copy));
    };
    return right_->submit(changed);
  }
  Result<void> poll() override { return right_->poll(); }
  Result<void> wait() override { return right_->wait(); }

 private:
  std::unique_ptr<Program> right_;
  Plan plan_;
  Change change_;
};

}  // namespace tokamak
