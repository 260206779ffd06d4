// StepLog: in which steps a sequence has run, so that it can run again in the very same ones.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tokamak {

/// Sums in another order could turn a close choice: what is computed again, after a device was lost
/// or a token was guessed wrongly, must have the bits that it had. After the steps that were
/// written down a sequence has run token by token.
class StepLog {
 public:
  /// A step ran `count` tokens from `position` on, to where no step came yet. Steps of a run that
  /// follows this log change nothing.
  void add(uint32_t position, uint32_t count);
  /// How many tokens from `position` on the step has run that ran the one there.
  uint32_t rest_of_step(uint32_t position) const;
  /// Forgets what followed `position`: a step that had more is a shorter one.
  void cut(uint32_t position);

 private:
  uint32_t end() const { return ends_.empty() ? 0 : ends_.back(); }

  std::vector<uint32_t> ends_;  // of steps, in ascending order
};

/// The last sequence of a slot that others may go on from.
struct LastSequence {
  std::string tenant;
  std::vector<uint32_t> ids;
  StepLog steps;
  uint32_t written = 0;   // positions that the windows have seen, also for nothing
  bool is_there = false;  // false: the device has lost it, and it runs again in these steps
};

}  // namespace tokamak
