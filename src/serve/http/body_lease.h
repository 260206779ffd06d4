// BodyLease: the share of a request's body in the bytes of bodies that a server keeps at once,
// those that are on their way and those that wait to be read.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/byte_budget.h"

namespace tokamak::serve {

class BodyLease {
 public:
  /// The bytes of every body that do not count, so that a full budget refuses no small request.
  static constexpr uint64_t kFreeBytes = uint64_t{64} << 10;

  BodyLease() = default;
  explicit BodyLease(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}

  /// Takes what a body of that many bytes needs beyond what it has. False: the budget is full.
  bool cover(uint64_t body_bytes) {
    const uint64_t needed = body_bytes - std::min(body_bytes, kFreeBytes);
    const uint64_t held = lease_ ? lease_->bytes() : 0;
    if (needed <= held) return true;
    auto more = budget_->take(needed - held);
    if (!more) return false;
    if (lease_) {
      lease_->add(*std::move(more));
    } else {
      lease_ = std::move(more);
    }
    return true;
  }

 private:
  std::shared_ptr<ByteBudget> budget_;
  std::optional<ByteBudget::Lease> lease_;
};

}  // namespace tokamak::serve
