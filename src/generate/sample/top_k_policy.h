// TopKPolicy: whether a sequence's next token is drawn from a list of the most probable ones, which
// the device makes and may go on from by itself, or from all logits.
#pragma once
#include <cstdint>

namespace tokamak {

/// A list that is not enough costs a way to the device and back: after several in a row the next is
/// made that many steps later. Where the device has gone on by itself it costs the steps in flight
/// as well, and those that bring recurrent states back: it goes on again when as many lists have
/// been enough.
class TopKPolicy {
 public:
  explicit TopKPolicy(bool is_recurrent) : steps_of_a_miss_(is_recurrent ? 16 : 8) {}

  bool wants_list() const { return pause_ == 0; }
  bool allows_run_ahead() const { return pause_ == 0 && recent_misses_ == 0; }

  void was_enough();
  void was_not_enough();
  /// A step was made without a list.
  void made_no_list();

 private:
  uint32_t steps_of_a_miss_;
  uint32_t misses_ = 0;         // lists in a row that were not enough
  uint32_t pause_ = 0;          // steps for which none is made
  uint32_t recent_misses_ = 0;  // lists that must be enough before the device goes on by itself
};

}  // namespace tokamak
