// BodyBudget: how many bytes of bodies a server keeps at once, those that are on their way and
// those that wait to be read. Any thread may give bytes back.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace tokamak::serve {

class BodyBudget {
 public:
  explicit BodyBudget(uint64_t limit) : limit_(limit) {}

  bool take(uint64_t bytes) {
    uint64_t used = used_.load();
    do {
      if (bytes > limit_ - std::min(used, limit_)) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
  }
  void give_back(uint64_t bytes) { used_ -= bytes; }
  uint64_t used() const { return used_.load(); }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_ = 0;
};

/// The share of one body in a budget, given back with the object.
class BodyLease {
 public:
  /// The bytes of every body that do not count, so that a full budget refuses no small request.
  static constexpr uint64_t kFreeBytes = uint64_t{64} << 10;

  BodyLease() = default;
  explicit BodyLease(std::shared_ptr<BodyBudget> budget) : budget_(std::move(budget)) {}
  BodyLease(BodyLease&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyLease& operator=(BodyLease&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BodyLease() {
    if (bytes_ > 0) budget_->give_back(bytes_);
  }

  /// Takes what a body of that many bytes needs beyond what it has. False: the budget is full.
  bool cover(uint64_t body_bytes) {
    const uint64_t needed = body_bytes - std::min(body_bytes, kFreeBytes);
    if (needed <= bytes_) return true;
    if (!budget_->take(needed - bytes_)) return false;
    bytes_ = needed;
    return true;
  }

 private:
  std::shared_ptr<BodyBudget> budget_;
  uint64_t bytes_ = 0;
};

}  // namespace tokamak::serve
