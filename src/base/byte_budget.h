// ByteBudget: how many bytes many may hold together. Any thread may call it.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace tokamak {

class ByteBudget {
 public:
  /// A part of a budget, which it gives back when it goes.
  class Lease {
   public:
    Lease(Lease&& other) noexcept
        : taken_(std::move(other.taken_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(taken_, other.taken_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Lease() {
      if (taken_ != nullptr) *taken_ -= bytes_;
    }

    uint64_t bytes() const { return bytes_; }
    /// Takes over what another one of the same budget has.
    void add(Lease other) { bytes_ += std::exchange(other.bytes_, 0); }

   private:
    friend class ByteBudget;
    Lease(std::shared_ptr<std::atomic<uint64_t>> taken, uint64_t bytes)
        : taken_(std::move(taken)), bytes_(bytes) {}

    std::shared_ptr<std::atomic<uint64_t>> taken_;
    uint64_t bytes_;
  };

  explicit ByteBudget(uint64_t most) : most_(most) {}

  /// Nothing where they would be too many beside those that are taken.
  std::optional<Lease> take(uint64_t bytes) {
    uint64_t taken = *taken_;
    do {
      if (taken > most_ || bytes > most_ - taken) return std::nullopt;
    } while (!taken_->compare_exchange_weak(taken, taken + bytes));
    return Lease(taken_, bytes);
  }
  uint64_t taken() const { return *taken_; }

 private:
  uint64_t most_;
  std::shared_ptr<std::atomic<uint64_t>> taken_ = std::make_shared<std::atomic<uint64_t>>(0);
};

}  // namespace tokamak
